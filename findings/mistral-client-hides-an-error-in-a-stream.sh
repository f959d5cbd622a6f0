#!/usr/bin/env bash
# @mistralai/mistralai 2.7.0, chat.stream(): an error that a server sends in the middle of a stream reaches the caller as a list of
# missing fields; what the server said is not in it. Calls of tools without an index all get the index 0.
#
# Expected: an error that has the server's words, as groq-sdk 1.6.0 gives for the same bytes, run beside it. Seen: {"error":
# {"message": "overloaded"}} behind the first piece throws a ZodError, "id: expected string", without "overloaded" anywhere in
# it. "usage": null, which other servers send in each piece but the last, ends a stream in the same way at the first piece. Of
# two calls without an index, each in a piece of its own or both in a whole answer, both have "index": 0, which no one sent.
#
# Who meets it: makers of assistants that reach Mistral's models by a gateway: no one sees that the server was overloaded and the
# call can be tried again; and who joins the pieces of calls by their index makes one call of two.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @mistralai/mistralai@2.7.0 groq-sdk@1.6.0 >/dev/null
cat >probe.mjs <<'END'
import http from 'node:http'
import util from 'node:util'
import { Mistral } from '@mistralai/mistralai'
import Groq from 'groq-sdk'

let body, type
const server = http.createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': type })
    response.end(body)
  })
})
await new Promise(ready => server.listen(0, '127.0.0.1', ready))
const url = `http://127.0.0.1:${server.address().port}`
const call = (id, name) => ({ id, type: 'function', function: { name, arguments: '{}' } })
const piece = (delta, finish_reason = null, more = {}) => 'data: ' + JSON.stringify({
  id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }], ...more,
}) + '\n\n'
const ask = { model: 'm', messages: [{ role: 'user', content: 'x' }] }
const mistral = new Mistral({ apiKey: 'k', serverURL: url })
const groq = new Groq({ apiKey: 'k', baseURL: url, maxRetries: 0 })
const ways = {
  mistral: async function* () { for await (const event of await mistral.chat.stream(ask)) yield event.data.choices[0].delta },
  groq: async function* () { for await (const event of await groq.chat.completions.create({ ...ask, stream: true })) yield event.choices[0].delta },
}
for (const [name, text] of Object.entries({
  error: piece({ content: 'a' }) + 'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n',
  'usage null': piece({ content: 'a' }, 'stop', { usage: null }) + 'data: [DONE]\n\n',
  calls: piece({ tool_calls: [call('x', 'read')] }) + piece({ tool_calls: [call('y', 'list')] }, 'tool_calls') + 'data: [DONE]\n\n',
})) {
  [body, type] = [text, 'text/event-stream']
  for (const [which, way] of Object.entries(ways)) {
    const seen = []
    try {
      for await (const delta of way()) seen.push(delta.content ?? (delta.toolCalls ?? delta.tool_calls).map(c => `${c.id} ${c.index}`).join())
    } catch (error) { seen.push(`${error.constructor.name}, says so: ${util.inspect(error, { depth: 9, showHidden: true }).includes('overloaded')}`) }
    console.log(`${name}, ${which}: ${seen.join('; ')}`)
  }
}
[body, type] = [JSON.stringify({
  id: 'c', object: 'chat.completion', created: 1, model: 'm', usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: '', tool_calls: [call('x', 'read'), call('y', 'list')] } }],
}), 'application/json']
console.log('whole, mistral:', (await mistral.chat.complete(ask)).choices[0].message.toolCalls.map(c => `${c.id} ${c.index}`).join())
process.exit()
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
error, mistral: a; ZodError, says so: false
error, groq: a; APIError, says so: true
usage null, mistral: ZodError, says so: false
usage null, groq: a
calls, mistral: x 0; y 0
calls, groq: x undefined; y undefined
whole, mistral: x 0,y 0
END
echo "as stated: the server's words are lost, and each call has the index 0"
