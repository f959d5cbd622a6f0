#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2: a call whose event stream ends without an answer waits for its whole time limit, 60 s by default.
#
# Expected: a stream without event ids cannot be resumed, so nothing can answer the call any more, and it fails at once, as it
# does with the Go SDK. Seen: the client neither asks again nor fails; the call ends with "Request timed out" when its time is
# over, here 3 seconds.
#
# Who meets it: users of servers behind a load balancer that ends long streams, who look at a call that "hangs".
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @modelcontextprotocol/sdk@1.32.2 >/dev/null
cat >probe.mjs <<'END2'
import http from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

let after = 0
const server = http.createServer(async (request, response) => {
  let body = ''
  for await (const piece of request) body += piece
  if (after > 0) after++
  if (request.method !== 'POST') return response.writeHead(405).end()
  const m = JSON.parse(body)
  if (m.id === undefined) return response.writeHead(202).end()
  if (m.method === 'tools/call') {
    after = 1
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing yet\n\n')
  }
  const result = { protocolVersion: m.params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: m.id, result }))
})
await new Promise(ready => server.listen(0, '127.0.0.1', ready))
const client = new Client({ name: 'c', version: '1' })
await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${server.address().port}/mcp`)))
const began = Date.now()
const failed = await client.callTool({ name: 't' }, undefined, { timeout: 3000 }).then(() => 'answered', e => e.message)
console.log(`${failed} after ${Math.round((Date.now() - began) / 1000)} s`)
process.exit()
END2
node probe.mjs | tee out
grep -qx 'MCP error -32001: Request timed out after 3 s' out || { echo "changed: a stream that ends without an answer"; exit 1; }
echo "as stated: the call waits although nothing can answer it"
