#!/usr/bin/env bash
# ollama-ai-provider-v2 4.0.1 with ai 7.0.173: an answer that Ollama breaks off with an error, or that ends in the middle,
# is an answer without an error, and the tool that it called runs.
#
# Expected: a line {"error": …} in the stream of /api/chat, and an end without "done": true, are failures, as for the
# package ollama 0.6.4, which throws both. Seen: the error's text is written to the console as a line that could not be
# parsed; the stream of the AI SDK has no part of the type error; the finish reason is "other", or "tool-calls" where a call
# came before, and then the call is carried out and the next step begins.
#
# Who meets it: people with local models. A runner that runs out of memory in the middle of an answer leaves half a text
# that a program stores as the whole.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error \
  ollama-ai-provider-v2@4.0.1 ai@7.0.173 ollama@0.6.4 zod@4.6.7 >/dev/null
cat >probe.mjs <<'END2'
import http from 'node:http'
import { streamText, tool } from 'ai'
import { createOllama } from 'ollama-ai-provider-v2'
import { Ollama } from 'ollama'
import { z } from 'zod'

const piece = message => ({ model: 'm', created_at: '2026-11-01T00:00:00Z', message: { role: 'assistant', content: '', ...message }, done: false })
const text = piece({ content: 'half a ' })
const call = piece({ tool_calls: [{ function: { name: 'read', arguments: { path: 'f' } } }] })
const error = { error: 'model runner has unexpectedly stopped' }
const answers = { 'text, then an error': [text, error], 'text, then nothing': [text], 'a call, then an error': [call, error] }
for (const [name, lines] of Object.entries(answers)) {
  const server = http.createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    response.end(lines.map(l => JSON.stringify(l) + '\n').join(''))
  })
  await new Promise(ready => server.listen(0, '127.0.0.1', ready))
  const host = `http://127.0.0.1:${server.address().port}`
  let ran = 'no tool ran'
  let end = 'no error'
  const read = tool({ inputSchema: z.object({ path: z.string() }), execute: async () => { ran = 'the tool ran'; return 'x' } })
  const result = streamText({ model: createOllama({ baseURL: host + '/api' })('m'), prompt: 'hi', maxRetries: 0, tools: { read } })
  for await (const part of result.fullStream) if (part.type === 'error') end = 'an error'
  console.log(`provider: ${name}: ${end}, ${await result.finishReason}, ${ran}`)
  let thrown = 'no error'
  try {
    for await (const _ of await new Ollama({ host }).chat({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }));
  } catch (e) {
    thrown = 'throws'
  }
  console.log(`ollama: ${name}: ${thrown}`)
  server.close()
  server.closeAllConnections()
}
END2
node probe.mjs 2>/dev/null | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'provider: text, then an error: no error, other, no tool ran' out || fail "an error behind text"
grep -qx 'provider: text, then nothing: no error, other, no tool ran' out || fail "an end behind text"
grep -qx 'provider: a call, then an error: no error, tool-calls, the tool ran' out || fail "an error behind a call"
[ "$(grep -c '^ollama: .*: throws$' out)" = 3 ] || fail "the package ollama"
echo "as stated: a broken answer has no error, and its call is carried out"
