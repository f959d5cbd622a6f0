#!/usr/bin/env bash
# openai 7.59.0 (npm): responses.stream() fails at the first event that it does not know; create({ stream: true }) passes it on.
#
# Expected: the API adds events, so a client passes over one that is new, as the same package does in create() and as
# @ai-sdk/openai does. Seen: "Unhandled response stream event: unknown" is thrown in the middle of an answer, and neither the
# text that came before nor the whole response that follows can be had from finalResponse().
#
# Who meets it: programs on an older version of the package when the API, a gateway or a local server sends an event of its own.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error openai@7.59.0 >/dev/null
cat >probe.mjs <<'END2'
import http from 'node:http'
import OpenAI from 'openai'

const message = { type: 'message', id: 'm1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'hello', annotations: [] }] }
const response = (status, output) => ({ id: 'r1', object: 'response', created_at: 1, model: 'm', status, output, tools: [], error: null, incomplete_details: null })
const events = more => [
  { type: 'response.created', response: response('in_progress', []) },
  { type: 'response.output_item.added', output_index: 0, item: { ...message, status: 'in_progress', content: [] } },
  ...more,
  { type: 'response.output_item.done', output_index: 0, item: message },
  { type: 'response.completed', response: response('completed', [message]) },
].map((e, i) => `event: ${e.type}\ndata: ${JSON.stringify({ ...e, sequence_number: i })}\n\n`).join('')
const answers = { known: events([]), new: events([{ type: 'response.weather.changed', sky: 'clear' }]) }
for (const [name, body] of Object.entries(answers)) {
  const server = http.createServer((request, answer) => {
    request.resume()
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    answer.end(body)
  })
  await new Promise(ready => server.listen(0, '127.0.0.1', ready))
  const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${server.address().port}`, maxRetries: 0 })
  const ask = { model: 'm', input: 'hi' }
  console.log(`stream, ${name}:`, await client.responses.stream(ask).finalResponse().then(r => r.output_text ?? r.output[0].content[0].text, e => e.message))
  let seen = 0
  for await (const _ of await client.responses.create({ ...ask, stream: true })) seen++
  console.log(`create, ${name}: ${seen} events`)
  server.close()
  server.closeAllConnections()
}
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'stream, known: hello' out || fail "an answer of known events"
grep -qx 'stream, new: Unhandled response stream event: unknown' out || fail "an answer with a new event"
grep -qx 'create, new: 5 events' out || fail "the same answer from create"
echo "as stated: one helper fails at a new event, the other passes it on"
