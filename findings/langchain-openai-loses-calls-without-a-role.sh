#!/usr/bin/env bash
# @langchain/openai 1.5.8 with @langchain/core 1.4.0: in a stream whose pieces do not name a role, every call of a tool is lost.
# Nothing is thrown, and the text is there.
#
# Expected: an answer is the assistant's, whether or not a piece says so; the wire has role as an optional field of a piece. Seen:
# without "role" in the first piece the result is a ChatMessageChunk without tool_calls, though it finishes with "tool_calls";
# with it the same pieces are an AIMessageChunk with the call.
#
# Who meets it: makers of agents on this library behind a server or a gateway that leaves the role out: the agent sees an answer
# without calls, takes it for the last one, and ends with an empty text.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @langchain/openai@1.5.8 @langchain/core@1.4.0 >/dev/null
cat >probe.mjs <<'END'
import http from 'node:http'
import { ChatOpenAI } from '@langchain/openai'

const piece = (delta, finish_reason = null) => 'data: ' + JSON.stringify({
  id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }],
}) + '\n\n'
const called = { tool_calls: [{ index: 0, id: 'x', type: 'function', function: { name: 'read', arguments: '{"p":1}' } }] }
const server = http.createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const role = request.url.startsWith('/role') ? { role: 'assistant' } : {}
  response.end(piece({ ...role, content: 'I look.' }) + piece(called) + piece({}, 'tool_calls') + 'data: [DONE]\n\n')
})
await new Promise(ready => server.listen(0, '127.0.0.1', ready))
for (const which of ['role', 'none']) {
  const baseURL = `http://127.0.0.1:${server.address().port}/${which}`
  const model = new ChatOpenAI({ model: 'm', apiKey: 'k', maxRetries: 0, configuration: { baseURL } })
  let whole
  for await (const chunk of await model.stream('x')) whole = whole ? whole.concat(chunk) : chunk
  const calls = whole.tool_calls?.map(c => c.name + JSON.stringify(c.args))
  console.log(`${which}: ${whole.constructor.name} ${whole.content} ${whole.response_metadata.finish_reason} ${calls ?? 'no calls'}`)
}
process.exit()
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
role: AIMessageChunk I look. tool_calls read{"p":1}
none: ChatMessageChunk I look. tool_calls no calls
END
echo "as stated: without a role the calls are gone"
