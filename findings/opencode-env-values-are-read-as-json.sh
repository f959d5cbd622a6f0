#!/usr/bin/env bash
# opencode 1.18.33: {env:NAME} in opencode.json puts the variable's value into the text of the file before that is read as
# JSON. A quote in the value makes the whole file invalid, and c:\new becomes "c:", a line end and "ew".
#
# Expected: the value arrives as it is, as that of {file:NAME} does, beside it in the same file. Seen: {file:NAME} of the
# same bytes is whole; {env:NAME} with a backslash and an n is changed without a word, exit code 0; with a quote:
# "not valid JSON", exit code not 0.
#
# Who meets it: whoever keeps a Windows path, a password with a backslash or a header in JSON in the environment: the
# login fails, or no setting of the file is taken.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME
mkdir -p "$HOME" "$dir/project"
npm install --prefix "$dir/npm" --no-audit --no-fund --ignore-scripts --loglevel=error opencode-ai@1.18.33 >/dev/null
# The package's own script picks the program for this machine; without it the first that runs is taken.
for program in "$dir"/npm/node_modules/opencode-*/bin/opencode; do
  if "$program" --version >/dev/null 2>&1; then break; fi
done
cd "$dir/project"
cat >opencode.json <<'END2'
{ "username": "{env:VALUE}", "instructions": ["{file:./value}"] }
END2
fail() { echo "changed: $*"; exit 1; }
show() { # what the config is read as, fields in JSON
  printf '%s' "$1" >value
  VALUE=$1 "$program" debug config </dev/null >out 2>err || { echo "refused: $(cat out err | grep -oE 'is not valid JSON' | head -n 1)"; return 0; }
  node -e 'const c = JSON.parse(require("fs").readFileSync("out", "utf8"))
    console.log(`env ${JSON.stringify(c.username)}, file ${JSON.stringify(c.instructions[0])}`)'
}
check() {
  local said
  said=$(show "$1")
  echo "$1: $said"
  [ "$said" = "$2" ] || fail "$1"
}
check 'plain' 'env "plain", file "plain"'
check 'c:\new' 'env "c:\new", file "c:\\new"'
check 'say "hi"' 'refused: is not valid JSON'
echo "as stated: what comes from the environment is read as JSON, what comes from a file is not"
