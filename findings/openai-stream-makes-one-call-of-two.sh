#!/usr/bin/env bash
# openai 7.59.0 (npm), chat.completions.stream(): two calls of tools that a server sends under one index become one call. It
# has the id and the name of the second, and the arguments of both, one behind the other. Nothing is thrown.
#
# Expected: a new id begins a new call, as for @ai-sdk/openai-compatible 3.0.92, which is run beside it on the same bytes;
# or an error. Seen: read {"p":1} and list {"p":2} come out as one call of list with the arguments {"p":1}{"p":2}. Without
# an index the same two calls are an error that names the index; with the indexes 0 and 1 they are two calls.
#
# Who meets it: makers of assistants that point this library at a gateway or a local server that numbers each call 0: the
# first call is never run, the second fails as malformed, and the model is told that it wrote bad JSON.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error openai@7.59.0 ai@7.0.173 @ai-sdk/openai-compatible@3.0.92 >/dev/null
cat >probe.mjs <<'END'
import http from 'node:http'
import OpenAI from 'openai'
import { streamText, tool, jsonSchema } from 'ai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'

const piece = (delta, finish_reason = null) => 'data: ' + JSON.stringify({
  id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }],
}) + '\n\n'
const call = (index, id, name, args) => piece({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] })
const stream = second => [
  piece({ role: 'assistant', content: null }), call(0, 'x', 'read', '{"p":1}'), call(second, 'y', 'list', '{"p":2}'),
  piece({}, 'tool_calls'), 'data: [DONE]\n\n',
].join('')
const server = http.createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(stream(request.url.startsWith('/same') ? 0 : 1))
})
await new Promise(ready => server.listen(0, '127.0.0.1', ready))
for (const which of ['same', 'own']) {
  const baseURL = `http://127.0.0.1:${server.address().port}/${which}`
  const client = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 })
  const whole = await client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'x' }] }).finalChatCompletion()
  for (const c of whole.choices[0].message.tool_calls) console.log(`${which} openai: ${c.id} ${c.function.name} ${c.function.arguments}`)
  const any = tool({ inputSchema: jsonSchema({ type: 'object' }) })
  const provider = createOpenAICompatible({ name: 'p', baseURL, apiKey: 'k' })
  for await (const part of streamText({ model: provider('m'), prompt: 'x', tools: { read: any, list: any }, maxRetries: 0 }).fullStream)
    if (part.type === 'tool-call') console.log(`${which} ai: ${part.toolCallId} ${part.toolName} ${JSON.stringify(part.input)}`)
}
process.exit()
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
same openai: y list {"p":1}{"p":2}
same ai: x read {"p":1}
same ai: y list {"p":2}
own openai: x read {"p":1}
own openai: y list {"p":2}
own ai: x read {"p":1}
own ai: y list {"p":2}
END
echo "as stated: under one index two calls are one, with the name of the second and the arguments of both"
