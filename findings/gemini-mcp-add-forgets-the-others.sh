#!/usr/bin/env bash
# gemini-cli 0.61.0: `gemini mcp add` in a folder that was not trusted yet forgets every server and setting that the
# project had.
#
# Expected: the new server stands beside the others. Seen: .gemini/settings.json has the new server alone, another
# setting beside "mcpServers" is gone, the comment stays, the exit code is 0 and the message says "added". Settings of
# a folder without trust are read as empty, changed, and written back. `gemini mcp remove` of the server that was just
# added says "not found", for the same reason, with exit code 0.
#
# Who meets it: a programmer who adds a second server on a fresh checkout, in CI or in a container; a tool that imports
# servers from .gemini/settings.json and finds one where a colleague has five.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME" "$dir/project"
npm install --prefix "$dir/npm" --no-audit --no-fund --ignore-scripts --loglevel=error @google/gemini-cli@0.61.0 >/dev/null
cd "$dir/project"
fail() { echo "changed: $*"; exit 1; }
mkdir .gemini
cat >.gemini/settings.json <<'END'
{
  // kept
  "ui": {"hideTips": true},
  "mcpServers": {"first": {"command": "one", "args": ["--x"]}}
}
END
"$dir/npm/node_modules/.bin/gemini" mcp add second two </dev/null || fail "adding ends with $?"
cat .gemini/settings.json
grep -q '"second"' .gemini/settings.json || fail "the new server is not there"
! grep -q '"first"' .gemini/settings.json || fail "the server that was there is kept"
! grep -q 'hideTips' .gemini/settings.json || fail "the other setting is kept"
grep -q '// kept' .gemini/settings.json || fail "the comment is gone"
"$dir/npm/node_modules/.bin/gemini" mcp remove second </dev/null >out 2>&1 || fail "removing ends with $?"
cat out
grep -q 'not found' out && grep -q '"second"' .gemini/settings.json || fail "the server was found and removed"
echo "as stated: a server that was added to an untrusted folder took the place of all others"
