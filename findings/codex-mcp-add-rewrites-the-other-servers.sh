#!/usr/bin/env bash
# codex 0.171.0: `codex mcp add NEW` writes the tables of all other servers anew: their comments and every key that this
# version does not know are gone.
#
# Expected: the new table is appended, or the file is edited with care, as it is outside of mcp_servers, where comments and
# unknown keys stay. Seen: the comment above and inside another server's table, a key of a newer version, and the reason
# beside an argument are lost, the list of arguments becomes one line, startup_timeout_ms becomes startup_timeout_sec; exit
# code 0. Removing a name that is not there changes nothing and has exit code 0 as well.
#
# Who meets it: whoever has notes in the file (why a server is off, which token it needs), shares it between two versions of
# the program, or keeps it in a repository and finds a large change after one server was added.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
unset CODEX_HOME
mkdir -p "$HOME/.codex" "$dir/project"
npm install --prefix "$dir/npm" --no-audit --no-fund --ignore-scripts --loglevel=error @openai/codex@0.171.0 >/dev/null
cd "$dir/project"
fail() { echo "changed: $*"; exit 1; }
codex() { "$dir/npm/node_modules/.bin/codex" "$@" </dev/null 2>/dev/null; }
config=$HOME/.codex/config.toml
cat >"$config" <<'END2'
# note outside
model = "m" # note beside
newer_key = "outside"

# note above
[mcp_servers.other]
command = "other" # note inside
args = [
  "--slow", # note in the list
]
startup_timeout_ms = 20000
newer_key = "server"

# note behind
[profiles.p]
model = "x"
END2
cp "$config" before
codex mcp remove nope || fail "removing an unknown name ends with $?"
cmp -s before "$config" || fail "removing an unknown name changes the file"
codex mcp add new -- program || fail "adding ends with $?"
cat "$config"
for kept in '# note outside' '# note beside' 'newer_key = "outside"' '# note behind' 'command = "other"' 'startup_timeout_sec = 20.0' 'args = ["--slow"]'; do
  grep -qF -- "$kept" "$config" || fail "$kept is not there"
done
for lost in '# note above' '# note inside' '# note in the list' 'newer_key = "server"' startup_timeout_ms; do
  ! grep -qF -- "$lost" "$config" || fail "$lost is kept"
done
echo "as stated: a server that was not named has lost its notes and a key"
