#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2 and @modelcontextprotocol/client 2.4.0: a 401 with two challenges, "Basic" before "Bearer",
# is read as one without resource_metadata and scope. With the Bearer challenge first the same header is understood.
#
# Expected: RFC 9110 allows several challenges, in one line or in two, and in any order; the client takes the one that it
# knows. Seen: what stands behind the first word counts only if that word is Bearer, so the client falls back to the
# well-known addresses of the origin, which need not exist.
#
# Who meets it: users of an MCP server behind a proxy that also takes passwords (nginx, Apache, Gitea): signing in ends at a
# page that is not there, or with too small a scope.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error \
  @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0 >/dev/null
cat >probe.mjs <<'END'
import * as one from '@modelcontextprotocol/sdk/client/auth.js'
import * as two from '@modelcontextprotocol/client'

const bearer = 'Bearer resource_metadata="https://meta.example/mcp", scope="files"'
for (const [label, values] of [['bearer alone', [bearer]], ['bearer first', [bearer, 'Basic realm="x"']],
  ['basic first', ['Basic realm="x"', bearer]], ['in one line', [`Basic realm="x", ${bearer}`]]]) {
  const headers = new Headers()
  for (const value of values) headers.append('WWW-Authenticate', value)
  const read = sdk => {
    const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(new Response('', { status: 401, headers }))
    return `${resourceMetadataUrl ?? 'no metadata'} ${scope ?? 'no scope'}`
  }
  console.log(`${label}: sdk ${read(one)}, client ${read(two)}`)
}
END
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
seen='https://meta.example/mcp files' none='no metadata no scope'
grep -qx "bearer alone: sdk $seen, client $seen" out || fail "one challenge"
grep -qx "bearer first: sdk $seen, client $seen" out || fail "Bearer first"
grep -qx "basic first: sdk $none, client $none" out || fail "Basic first"
grep -qx "in one line: sdk $none, client $none" out || fail "both in one line"
echo "as stated: a Bearer challenge behind another one is not seen"
