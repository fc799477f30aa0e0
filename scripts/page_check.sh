#!/bin/sh
# What has to hold of the page's sources: format, types, tests. Says how much a browser loads of it.
set -eu
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../web"
NO_COLOR=1 npm run --silent check
static=../src/agenthost/edges/page/static
# What is named in the page comes with it; the rest is loaded when it is needed.
loaded=$(grep -o 'assets/[^"]*' "$static/index.html" | sed "s|.*|$static/&.br|" | xargs cat | wc -c)
echo "$((loaded / 1000)) kB are loaded, compressed; terminals come later"
