#!/usr/bin/env bash
# @ai-sdk/google 4.0.121 with ai 7.0.173: a call whose arguments come in parts is lost if its last part says "willContinue": false.
#
# Expected: false is the field's word for "nothing follows", so the call is complete, as it is where the last part is an empty
# functionCall. Seen: the empty one makes a call with all arguments; with the word false no tool runs, no error is told, and
# the answer ends with the reason "stop".
#
# Who meets it: users of Gemini models behind a gateway that writes fields with their default values.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @ai-sdk/google@4.0.121 ai@7.0.173 zod@4.6.7 >/dev/null
cat >probe.mjs <<'END2'
import http from 'node:http'
import { streamText, tool } from 'ai'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { z } from 'zod'

const chunk = (functionCall, finishReason) => ({ candidates: [{ index: 0, content: { role: 'model', parts: [{ functionCall }] }, finishReason }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } })
for (const [name, last] of [['empty', {}], ['false', { willContinue: false }]]) {
  const chunks = [
    chunk({ id: 'f1', name: 'write', partialArgs: [{ jsonPath: '$.path', stringValue: 'a.txt' }], willContinue: true }),
    chunk({ partialArgs: [{ jsonPath: '$.content', stringValue: 'hello' }], willContinue: true }),
    chunk(last, 'STOP'),
  ]
  const server = http.createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(chunks.map(c => `data: ${JSON.stringify(c)}\n\n`).join(''))
  })
  await new Promise(ready => server.listen(0, '127.0.0.1', ready))
  const google = createGoogleGenerativeAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${server.address().port}/v1beta` })
  let ran = 'no tool ran'
  let end = 'no error'
  const write = tool({ inputSchema: z.any(), execute: async input => { ran = JSON.stringify(input); return 'x' } })
  const result = streamText({ model: google('m'), prompt: 'hi', maxRetries: 0, tools: { write }, onError() {} })
  for await (const part of result.fullStream) if (part.type === 'error') end = 'an error'
  console.log(`${name}: ${ran}, ${end}, ${await result.finishReason}`)
  server.close()
  server.closeAllConnections()
}
END2
node probe.mjs 2>/dev/null | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'empty: {"path":"a.txt","content":"hello"}, no error, tool-calls' out || fail "an empty last part"
grep -q '^false: no tool ran, no error, ' out || fail "a last part that says false"
echo "as stated: the call is lost where its end is written out"
