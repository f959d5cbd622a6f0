#!/usr/bin/env bash
# codex 0.171.0: `codex mcp add NAME` over a server of that name replaces its whole table without a word, and so
# switches on a server that was switched off.
#
# Expected: an error as from claude-code 2.1.332 ("already exists", exit code 1), or a change of the command alone. Seen:
# "Added global MCP server", exit code 0; env, args, startup_timeout_sec, enabled = false and the comment inside the table
# are gone, other tables and comments stay.
#
# Who meets it: a setup script that is run a second time, on a machine whose user had set a time limit or a token, or
# had disabled the server.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME" "$dir/project"
npm install --prefix "$dir/npm" --no-audit --no-fund --ignore-scripts --loglevel=error @openai/codex@0.171.0 >/dev/null
cd "$dir/project"
fail() { echo "changed: $*"; exit 1; }
mkdir "$HOME/.codex"
cat >"$HOME/.codex/config.toml" <<'END'
# outside
model = "m"

[mcp_servers.files]
# inside
command = "old"
args = ["--a"]
enabled = false
startup_timeout_sec = 42
env = { LEVEL = "debug" }
END
"$dir/npm/node_modules/.bin/codex" mcp add files -- new </dev/null || fail "adding ends with $?"
cat "$HOME/.codex/config.toml"
grep -q '# outside' "$HOME/.codex/config.toml" || fail "the comment outside is gone"
grep -q 'command = "new"' "$HOME/.codex/config.toml" || fail "the command is the old one"
! grep -qE 'inside|enabled|startup_timeout_sec|LEVEL|--a' "$HOME/.codex/config.toml" || fail "something of the old table is kept"
echo "as stated: the server that was switched off is on, and its other settings are gone"
