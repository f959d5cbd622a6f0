#!/usr/bin/env bash
# @anthropic-ai/sdk 1.14.0: a stream whose events have no "event:" line is taken for an empty one, though each event says
# its kind in the JSON ("type": "content_block_delta").
#
# Expected: the kind in the data is enough, as for @ai-sdk/anthropic 4.0.105, or an error that names what is missing. Seen:
# "request ended without sending any chunks"; create({ stream: true }) gives no event and no error at all. With the names
# the same bytes are a whole message.
#
# Who meets it: makers and users of servers and gateways that speak this wire and send data lines alone, as on the
# chat/completions wire: one client shows the answer, the other says that nothing came.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error \
  @anthropic-ai/sdk@1.14.0 ai@7.0.173 @ai-sdk/anthropic@4.0.105 >/dev/null
cat >probe.mjs <<'END2'
import Anthropic from '@anthropic-ai/sdk'
import { createAnthropic } from '@ai-sdk/anthropic'
import { streamText } from 'ai'

const events = [
  { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [],
    stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const request = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
for (const named of [true, false]) {
  const body = events.map(e => (named ? `event: ${e.type}\n` : '') + `data: ${JSON.stringify(e)}\n\n`).join('')
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const client = new Anthropic({ apiKey: 'none', maxRetries: 0, fetch })
  const label = named ? 'with names' : 'without names'
  const helper = await client.messages.stream(request).finalText().catch(e => e.message)
  let count = 0
  for await (const _ of await client.messages.create({ ...request, stream: true })) count++
  const model = createAnthropic({ apiKey: 'none', fetch })('m')
  const other = await streamText({ model, prompt: 'hi', maxRetries: 0, onError() {} }).text
  console.log(`${label}: stream() ${helper}, create() ${count} events, @ai-sdk/anthropic ${other}`)
}
END2
node probe.mjs 2>/dev/null | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'with names: stream() Hello, create() 6 events, @ai-sdk/anthropic Hello' out || fail "a stream with names"
grep -qx 'without names: stream() request ended without sending any chunks, create() 0 events, @ai-sdk/anthropic Hello' out || fail "a stream without names"
echo "as stated: without names the stream counts as empty, and create() does not even say so"
