#!/usr/bin/env bash
# gemini-cli 0.61.0: `gemini mcp add -e NAME=VALUE` cuts the value at its next "=".
#
# Expected: "-e TOKEN=abc==" keeps "abc==", as claude-code and codex do. Seen: the value in .gemini/settings.json is
# "abc"; exit code 0, no warning.
#
# Who meets it: whoever gives a server a base64 token or a connection string by -e (padding and parameters hold "="), and
# sees the server refuse the login.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME" "$dir/project"
npm install --prefix "$dir/npm" --no-audit --no-fund --ignore-scripts --loglevel=error @google/gemini-cli@0.61.0 >/dev/null
cd "$dir/project"
fail() { echo "changed: $*"; exit 1; }
"$dir/npm/node_modules/.bin/gemini" mcp add -e TOKEN=abc== tokens server </dev/null || fail "adding ends with $?"
cat .gemini/settings.json
value=$(node -p 'JSON.parse(require("fs").readFileSync(".gemini/settings.json", "utf8")).mcpServers.tokens.env.TOKEN')
[ "$value" = abc ] || fail "the value is $value"
echo "as stated: the value ends at its second ="
