#!/bin/sh
# Checks the page's sources: format, types, tests. Prints how much a browser loads.
set -eu
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../web"
NO_COLOR=1 npm run --silent check
static=../src/agenthost/edges/page/static
# Files that index.html names are loaded at once, the others when they are needed.
loaded=$(grep -o 'assets/[^"]*' "$static/index.html" | sed "s|.*|$static/&.br|" | xargs cat | wc -c)
echo "$((loaded / 1000)) kB are loaded, compressed; terminals come later"
