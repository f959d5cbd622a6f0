#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2 with zod 4.6.7: one tool with a date among its parameters, and tools/list is an error: no
# tool of the server can be seen.
#
# Expected: registerTool throws, or the one tool is left out, or the date is text with a format, as with zod 3.25.76. Seen:
# registerTool takes it; the server starts and answers initialize; tools/list ends as JSON-RPC error -32603 "Date cannot be
# represented in JSON Schema", which names no tool; a call of another tool works. The same with z.bigint() in a parameter
# and with .transform() in an output schema; .transform() in a parameter is fine.
#
# Who meets it: authors of servers who add one such tool to a server that worked, or move from zod 3 to 4; their users see a
# server that is connected and has no tools.
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

const second = {
  'a text': { inputSchema: { at: z.string() } },
  'a text with transform': { inputSchema: { at: z.string().transform(t => new Date(t)) } },
  'a date': { inputSchema: { at: z.date() } },
  'a bigint': { inputSchema: { at: z.bigint() } },
  'a result with transform': { outputSchema: { at: z.string().transform(t => t.length) } },
}
const answer = async () => ({ content: [{ type: 'text', text: 'pong' }] })
for (const [name, config] of Object.entries(second)) {
  const server = new McpServer({ name: 's', version: '1' })
  server.registerTool('ping', {}, answer)
  server.registerTool('second', config, answer)
  const [here, there] = InMemoryTransport.createLinkedPair()
  await server.connect(there)
  const client = new Client({ name: 'c', version: '1' })
  await client.connect(here)
  const listed = await client.listTools().then(l => l.tools.map(t => t.name).join(' '), e => e.message)
  const called = (await client.callTool({ name: 'ping' })).content[0].text
  console.log(`${name}: listed ${listed}; ping ${called}`)
}
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
for name in 'a text' 'a text with transform'; do
  grep -qx "$name: listed ping second; ping pong" out || fail "$name"
done
for name in 'a date' 'a bigint' 'a result with transform'; do
  grep -q "^$name: listed MCP error -32603: .* cannot be represented in JSON Schema; ping pong$" out || fail "$name"
done
echo "as stated: one parameter hides every tool of the server"
