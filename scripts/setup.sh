# Sourced by ./run and ./check: makes `.venv` with the locked dependencies, once per change of the lock files.
# Needs only Python 3.11 or newer. `root` is the project's folder.

# Which npm is used is not our concern, so its update notices are not shown.
export npm_config_update_notifier=false

# Prints the first Python here that is new enough.
find_python() {
    for python in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if command -v "$python" >/dev/null 2>&1 &&
            "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    {
        echo "agenthost needs Python 3.11 or newer; found: $(python3 --version 2>&1 || echo 'no python3')."
        echo "Install it (Debian and Ubuntu: apt-get install python3 python3-venv; macOS: brew install python)."
    } >&2
    return 1
}

# is_ready KIND: `.venv` holds what requirements/KIND.lock says.
is_ready() {
    [ -x "$root/.venv/bin/agenthost" ] && cmp -s "$root/requirements/$1.lock" "$root/.venv/$1.lock"
}

# ensure KIND: make it so. The lock keeps two first uses at once from building over each other.
ensure() {
    is_ready "$1" && return
    python=$(find_python)
    if command -v flock >/dev/null 2>&1; then
        exec 9>"$root/.venv.lock"
        flock 9
        if is_ready "$1"; then
            exec 9>&-
            return
        fi
    fi
    echo "agenthost: setting up .venv (once; later starts skip this)" >&2
    install "$1" || {
        echo "agenthost: the set-up failed; the lines above say why. ./run and ./check try again." >&2
        exit 1
    }
    if command -v flock >/dev/null 2>&1; then exec 9>&-; fi
}

install() {
    if ! "$root/.venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        "$python" -m venv --clear "$root/.venv" || {
            echo "agenthost: this Python cannot make virtual environments; on Debian: apt-get install python3-venv" >&2
            return 1
        }
    fi
    uv="$root/.venv/bin/uv"
    # By version and hash, as all else: it installs the rest.
    if [ ! -x "$uv" ] || ! cmp -s "$root/requirements/uv.lock" "$root/.venv/uv.lock"; then
        "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
            -r "$root/requirements/uv.lock" || return 1
        cp "$root/requirements/uv.lock" "$root/.venv/uv.lock"
    fi
    export VIRTUAL_ENV="$root/.venv"
    "$uv" pip install --quiet --require-hashes -r "$root/requirements/$1.lock" || return 1
    "$uv" pip install --quiet --no-deps --no-build-isolation --editable "$root" || return 1
    cp "$root/requirements/$1.lock" "$root/.venv/$1.lock"
}

# ensure_node FOLDER: what FOLDER/package-lock.json says is in FOLDER/node_modules. Fails where there is no npm.
ensure_node() {
    command -v npm >/dev/null 2>&1 || return 1
    cmp -s "$root/$1/package-lock.json" "$root/$1/node_modules/.lock" && return
    echo "agenthost: npm installs what $1 needs (once; later runs skip this)" >&2
    # Not `npm ci`: it wants packages for other systems too, which not every registry has.
    (cd "$root/$1" && npm install --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
        --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 &&
        npm run --silent --if-present setup) >&2 || return 1
    cp "$root/$1/package-lock.json" "$root/$1/node_modules/.lock"
}

# page_sources: a number that changes with what the page is built from.
page_sources() {
    (cd "$root/web" && find . -name node_modules -prune -o -name tests -prune -o -type f -print | LC_ALL=C sort |
        xargs cksum | cksum)
}

# is_page_built: the page is there, from the sources as they are.
is_page_built() {
    [ "$(cat "$root/src/agenthost/edges/page/static/sources" 2>/dev/null)" = "$(page_sources)" ]
}

# ensure_page: make it so. Fails where there is no Node, or it cannot be built; what was built before stays then.
ensure_page() {
    [ -d "$root/web" ] || return 0 # what is installed has the page inside, or does without
    is_page_built && return
    command -v npm >/dev/null 2>&1 || return 1
    if command -v flock >/dev/null 2>&1; then
        exec 9>"$root/.page.lock"
        flock 9
    fi
    built=0
    is_page_built || build_page || built=1
    if command -v flock >/dev/null 2>&1; then exec 9>&-; fi
    return $built
}

build_page() {
    ensure_node web || return 1
    echo "agenthost: building the page (when its sources have changed)" >&2
    page="$root/src/agenthost/edges/page/static"
    rm -rf "$page.new"
    (cd "$root/web" && npm run --silent build -- --logLevel warn --outDir "$page.new") >&2 || return 1
    page_sources >"$page.new/sources"
    rm -rf "$page"
    mv "$page.new" "$page"
}

# ensure_bubblewrap: there are sandboxes for shells. Installs Debian's bubblewrap where that is possible.
ensure_bubblewrap() {
    command -v bwrap >/dev/null 2>&1 && return
    if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then return 1; fi
    echo "agenthost: apt-get installs bubblewrap for the tests of sandboxes (once)" >&2
    export DEBIAN_FRONTEND=noninteractive
    set -- install --yes --no-install-recommends bubblewrap
    { apt-get "$@" || { apt-get update && apt-get "$@"; }; } >/dev/null 2>&1
}

# ensure_chromium: there is a browser to look at the page with. Installs Debian's where that is possible.
ensure_chromium() {
    for browser in chromium chromium-browser google-chrome; do
        command -v "$browser" >/dev/null 2>&1 && return
    done
    if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then return 1; fi
    echo "agenthost: apt-get installs Chromium for the tests of the page (once)" >&2
    export DEBIAN_FRONTEND=noninteractive
    set -- install --yes --no-install-recommends chromium fonts-dejavu-core
    { apt-get "$@" || { apt-get update && apt-get "$@"; }; } >/dev/null 2>&1
}
