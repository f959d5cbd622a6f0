#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2 with zod 4.6.7: the server checks a tool's structured result by zod, the client by the
# JSON Schema made from it, and the two differ: what the server has found right, the client of the same package throws away.
#
# Expected: both check by one rule, or the server sends what zod made of the value. Seen: zod drops a field it does not
# know, fills a default, makes a number of "5"; the server then sends the handler's value as it was; the published schema
# has additionalProperties false, lists a field with a default as required, wants a number. callTool throws -32602, text
# content and all, but only where the client has called listTools before: without it the same result is delivered.
#
# Who meets it: servers that give an object of some API as their result, with a field more than the schema names; assistants
# see the tool fail after it had its effect, and a quick test of the server without a listing works.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @modelcontextprotocol/sdk@1.32.2 zod@4.6.7 >/dev/null
cat >probe.mjs <<'END2'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { z } from 'zod'

const tools = {
  'as the schema says': [{ n: z.number() }, { n: 5 }],
  'one field more': [{ n: z.number() }, { n: 5, more: true }],
  'a default left out': [{ n: z.number().default(5) }, {}],
  'a number as text': [{ n: z.coerce.number() }, { n: '5' }],
}
for (const [name, [outputSchema, structuredContent]] of Object.entries(tools)) {
  for (const listFirst of [false, true]) {
    const server = new McpServer({ name: 's', version: '1' })
    server.registerTool('t', { outputSchema }, async () => ({ content: [{ type: 'text', text: 'done' }], structuredContent }))
    const [here, there] = InMemoryTransport.createLinkedPair()
    await server.connect(there)
    const client = new Client({ name: 'c', version: '1' })
    await client.connect(here)
    if (listFirst) await client.listTools()
    const got = await client.callTool({ name: 't' }).then(r => JSON.stringify(r.structuredContent), e => e.message)
    console.log(`${name}, ${listFirst ? 'listed' : 'not listed'}: ${got}`)
  }
}
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qxF 'as the schema says, listed: {"n":5}' out || fail "a plain result"
grep -qxF 'one field more, not listed: {"n":5,"more":true}' out || fail "one field more, not listed"
grep -qxF 'a default left out, not listed: {}' out || fail "a default, not listed"
grep -qxF 'a number as text, not listed: {"n":"5"}' out || fail "a number as text, not listed"
grep -q '^one field more, listed: MCP error -32602: .*must NOT have additional properties' out || fail "one field more"
grep -q "^a default left out, listed: MCP error -32602: .*must have required property 'n'" out || fail "a default left out"
grep -q '^a number as text, listed: MCP error -32602: .*must be number' out || fail "a number as text"
echo "as stated: the server finds the result right, and the client of the same package refuses it"
