#!/usr/bin/env bash
# openai 7.59.0 (npm), chat.completions.stream(): the pieces of a field that the library does not know, such as
# reasoning_content, are not joined. The final message holds the last piece alone, as if it were the whole.
#
# Expected: joined like content and refusal, whose type is the same, or left out. Seen: "I ", "should ", "look." becomes
# "look."; a list in pieces (reasoning_details, annotations) keeps its last piece too; content beside it is whole.
#
# Who meets it: makers of assistants that point this library at another server (DeepSeek, vLLM, OpenRouter and more send
# their thoughts so). Some of these models want their thoughts back with the results of tools, and get the last word.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error openai@7.59.0 >/dev/null
cat >probe.mjs <<'END2'
import OpenAI from 'openai'

const deltas = [
  { role: 'assistant', reasoning_content: 'I ' },
  { reasoning_content: 'should ', reasoning_details: [{ type: 'reasoning.text', text: 'one' }] },
  { reasoning_content: 'look.', reasoning_details: [{ type: 'reasoning.text', text: 'two' }] },
  { content: 'Hel' },
  { content: 'lo' },
  {},
]
const body = deltas.map((delta, i) => 'data: ' + JSON.stringify({
  id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm',
  choices: [{ index: 0, delta, finish_reason: i === deltas.length - 1 ? 'stop' : null }],
}) + '\n\n').join('') + 'data: [DONE]\n\n'
const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
const client = new OpenAI({ apiKey: 'none', maxRetries: 0, fetch })
const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
const { message } = (await stream.finalChatCompletion()).choices[0]
console.log('content:', message.content)
console.log('reasoning_content:', message.reasoning_content)
console.log('reasoning_details:', message.reasoning_details?.map(d => d.text).join(' '))
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'content: Hello' out || fail "the content"
grep -qx 'reasoning_content: look.' out || fail "the thoughts as text"
grep -qx 'reasoning_details: two' out || fail "the thoughts as a list"
echo "as stated: the content is whole, and of the thoughts the last piece is left"
