#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2: a variable of a resource template comes to the handler as it stands in the address, with
# %20 for a blank; the package's own expansion of the same template puts the %20 there.
#
# Expected: match is the other way of expand, so "a b" comes out as "a b". Seen: expand makes notes://a%20b of "a b", the
# handler is given "a%20b". With {+path} it is the same.
#
# Who meets it: servers whose resources are files, tables or notes with a blank or a foreign letter in the name: "not found"
# for these alone, as soon as an assistant reads them.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @modelcontextprotocol/sdk@1.32.2 zod@4.6.7 >/dev/null
cat >probe.mjs <<'END2'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { UriTemplate } from '@modelcontextprotocol/sdk/shared/uriTemplate.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'

for (const [template, name] of [['notes://all/{name}', 'plain'], ['notes://all/{name}', 'a b'], ['file:///{+name}', 'x/a b']]) {
  const server = new McpServer({ name: 's', version: '1' })
  server.registerResource('r', new ResourceTemplate(template, { list: undefined }), {},
    async (uri, variables) => ({ contents: [{ uri: uri.href, text: variables.name }] }))
  const [here, there] = InMemoryTransport.createLinkedPair()
  await server.connect(there)
  const client = new Client({ name: 'c', version: '1' })
  await client.connect(here)
  const uri = new UriTemplate(template).expand({ name })
  console.log(`${name} is read as ${uri}, the handler is given ${(await client.readResource({ uri })).contents[0].text}`)
}
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'plain is read as notes://all/plain, the handler is given plain' out || fail "a plain name"
grep -qx 'a b is read as notes://all/a%20b, the handler is given a%20b' out || fail "a name with a blank"
grep -qx 'x/a b is read as file:///x/a%20b, the handler is given x/a%20b' out || fail "a path with a blank"
echo "as stated: what is encoded on the way in is not decoded on the way out"
