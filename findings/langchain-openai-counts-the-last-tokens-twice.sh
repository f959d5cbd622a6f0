#!/usr/bin/env bash
# @langchain/openai 1.5.8 with @langchain/core 1.4.0: a count of tokens that comes in the piece with the finish reason is counted
# twice in response_metadata.usage of the joined message; usage_metadata of the same message is right.
#
# Expected: one count in both places, as there is where it comes in a piece of its own, without choices. Seen: 5 and 30 tokens in
# the last piece with text are 10 and 60; a server that counts in every piece (10, 20, 30 so far) has 20 and 90, all of them
# added up and the last one again.
#
# Who meets it: makers of agents that take the price or the size of the context from response_metadata, behind a server that
# counts in its last piece or as it goes: the answer is paid for twice and the history is cut too early.
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

const piece = (content, count, finish_reason = null) => 'data: ' + JSON.stringify({
  id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm',
  choices: content === null ? [] : [{ index: 0, delta: { role: 'assistant', content }, finish_reason }],
  ...(count && { usage: { prompt_tokens: 5, completion_tokens: count, total_tokens: 5 + count } }),
}) + '\n\n'
const server = http.createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const { a, b, c, apart } = {
    '/apart': { apart: 30 }, '/last': { c: 30 }, '/always': { a: 10, b: 20, c: 30 },
  }[request.url.slice(0, request.url.indexOf('/', 1))]
  response.write(piece('a', a) + piece('b', b) + piece('c', c, 'stop'))
  response.end((apart ? piece(null, apart) : '') + 'data: [DONE]\n\n')
})
await new Promise(ready => server.listen(0, '127.0.0.1', ready))
for (const which of ['apart', 'last', 'always']) {
  const baseURL = `http://127.0.0.1:${server.address().port}/${which}`
  const model = new ChatOpenAI({ model: 'm', apiKey: 'k', maxRetries: 0, configuration: { baseURL } })
  let whole
  for await (const chunk of await model.stream('x')) whole = whole ? whole.concat(chunk) : chunk
  const { usage } = whole.response_metadata
  console.log(`${which}: ${whole.usage_metadata.input_tokens}+${whole.usage_metadata.output_tokens}`
    + ` and ${usage.prompt_tokens}+${usage.completion_tokens}`)
}
process.exit()
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
apart: 5+30 and 5+30
last: 5+30 and 10+60
always: 5+30 and 20+90
END
echo "as stated: what comes with the finish reason counts twice"
