#!/usr/bin/env bash
# gemini-cli 0.61.0: `gemini mcp add NAME http://…` without --transport makes the address the command of a stdio server.
#
# Expected: a server over HTTP, or a refusal. Seen: "command": "http://127.0.0.1:9/mcp" in .gemini/settings.json, the
# message says (stdio), exit code 0, no warning. claude-code 2.1.332 does the same, but warns and names the right flag.
#
# Who meets it: whoever follows a page of a server that says "add this address"; a tool that reads these settings must
# take a "command" with a scheme for an address.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME" "$dir/project"
npm install --prefix "$dir/npm" --no-audit --no-fund --ignore-scripts --loglevel=error @google/gemini-cli@0.61.0 >/dev/null
cd "$dir/project"
fail() { echo "changed: $*"; exit 1; }
"$dir/npm/node_modules/.bin/gemini" mcp add remote http://127.0.0.1:9/mcp </dev/null >out 2>&1 || fail "adding ends with $?"
cat out .gemini/settings.json
grep -q '"command": "http://127.0.0.1:9/mcp"' .gemini/settings.json || fail "the address is no command"
! grep -qiE 'warn|looks like' out || fail "there is a warning"
echo "as stated: the address is a command"
