#!/usr/bin/env bash
# @anthropic-ai/sdk 1.14.0, beta.messages.toolRunner(): its second request has the results of the tools alone. The question, the
# system prompt, the tools and the calls that the results answer are not in it, on any address that the client is given.
#
# Expected: as in 0.137.0, run beside it, each request brings the whole conversation, as messages.create() wants it. Seen: the
# runner asks for a thread ("thread": {"type": "create"}, a beta header) and then names the answer before ("continue",
# "previous_message_id"), without looking whether the server made a thread. A server that passes over fields that it does not
# know answers results without a question; one that is strict refuses "thread", and the run ends with that 400. After pause_turn
# the messages are an empty list. thread: false sends all.
#
# Who meets it: makers of assistants that point this package at a gateway or at another maker's server of this wire, and update
# it: the model no longer knows what was asked, and the first request, which most tests look at, is as it was.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error now@npm:@anthropic-ai/sdk@1.14.0 before@npm:@anthropic-ai/sdk@0.137.0 >/dev/null
cat >probe.mjs <<'END'
import http from 'node:http'
import Now from 'now'
import Before from 'before'

let stop, strict, asked
const server = http.createServer(async (request, response) => {
  let text = ''
  for await (const piece of request) text += piece
  const body = JSON.parse(text)
  asked.push(`${body.messages.map(m => m.content[0].type ?? 'text').join('+') || 'nothing'}, tools ${!!body.tools}, system ${!!body.system}`)
  response.setHeader('content-type', 'application/json')
  if (strict && body.thread) {
    response.statusCode = 400
    return response.end('{"type":"error","error":{"type":"invalid_request_error","message":"thread: Extra inputs are not permitted"}}')
  }
  const first = asked.length === 1
  response.end(JSON.stringify({
    id: 'm', type: 'message', role: 'assistant', model: 'x', stop_reason: first ? stop : 'end_turn', stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
    content: first && stop === 'tool_use' ? [{ type: 'tool_use', id: 't', name: 'read', input: {} }] : [{ type: 'text', text: 'done' }],
  }))
})
await new Promise(ready => server.listen(0, '127.0.0.1', ready))
const baseURL = `http://127.0.0.1:${server.address().port}`
const read = { type: 'custom', name: 'read', description: 'd', input_schema: { type: 'object' }, run: async () => 'ok', parse: x => x }
for (const [name, Client, why, refuse, more] of [
  ['0.137.0', Before, 'tool_use', false, {}], ['1.14.0', Now, 'tool_use', false, {}],
  ['1.14.0 pause', Now, 'pause_turn', false, {}], ['1.14.0 strict', Now, 'tool_use', true, {}],
  ['1.14.0 thread: false', Now, 'tool_use', false, { thread: false }],
]) {
  [stop, strict, asked] = [why, refuse, []]
  const client = new Client({ apiKey: 'k', baseURL, maxRetries: 0 })
  const messages = [{ role: 'user', content: 'what is in it?' }]
  let end
  try {
    end = (await client.beta.messages.toolRunner({ model: 'x', max_tokens: 9, system: 's', messages, tools: [read], ...more })).stop_reason
  } catch (error) { end = error.status }
  asked.forEach((what, n) => console.log(`${name}: ${n + 1} ${what}`))
  console.log(`${name}: ${end}`)
}
process.exit()
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
0.137.0: 1 text, tools true, system true
0.137.0: 2 text+tool_use+tool_result, tools true, system true
0.137.0: end_turn
1.14.0: 1 text, tools true, system true
1.14.0: 2 tool_result, tools false, system false
1.14.0: end_turn
1.14.0 pause: 1 text, tools true, system true
1.14.0 pause: 2 nothing, tools false, system false
1.14.0 pause: end_turn
1.14.0 strict: 1 text, tools true, system true
1.14.0 strict: 400
1.14.0 thread: false: 1 text, tools true, system true
1.14.0 thread: false: 2 text+tool_use+tool_result, tools true, system true
1.14.0 thread: false: end_turn
END
echo "as stated: the second request has the results alone"
