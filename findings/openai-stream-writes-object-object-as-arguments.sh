#!/usr/bin/env bash
# openai 7.59.0 (npm), chat.completions.stream(): where a server sends the arguments of a call as an object, the final message
# has the text "[object Object]" for them. What the model wrote is lost, and nothing is thrown.
#
# Expected: the object's JSON as text, or an error, as @ai-sdk/openai-compatible 3.0.92 gives one. Seen: the pieces are put
# together by "+=" on a text; create() without a stream hands the object out as it came, whose type says that it is text.
#
# Who meets it: makers of assistants that point this library at a server which keeps arguments as an object, as Ollama's own
# format does, behind a gateway that passes them on. The model is then told that it wrote "[object Object]".
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error openai@7.59.0 >/dev/null
cat >probe.mjs <<'END'
import http from 'node:http'
import OpenAI from 'openai'

const call = { index: 0, id: 'x', type: 'function', function: { name: 'read', arguments: { path: 'a.go' } } }
const piece = (delta, finish_reason = null) => 'data: ' + JSON.stringify({
  id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }],
}) + '\n\n'
const server = http.createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  if (JSON.parse(body).stream) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.end(piece({ role: 'assistant', content: null, tool_calls: [call] }) + piece({}, 'tool_calls') + 'data: [DONE]\n\n')
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm',
    choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [call] } }] }))
})
await new Promise(ready => server.listen(0, '127.0.0.1', ready))
const client = new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${server.address().port}`, maxRetries: 0 })
const ask = { model: 'm', messages: [{ role: 'user', content: 'x' }] }
const told = answer => JSON.stringify(answer.choices[0].message.tool_calls[0].function.arguments)
console.log('stream: ' + told(await client.chat.completions.stream(ask).finalChatCompletion()))
console.log('create: ' + told(await client.chat.completions.create(ask)))
process.exit()
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
stream: "[object Object]"
create: {"path":"a.go"}
END
echo "as stated: the stream's final message has [object Object] for the arguments"
