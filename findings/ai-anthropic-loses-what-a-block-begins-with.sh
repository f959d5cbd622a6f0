#!/usr/bin/env bash
# @ai-sdk/anthropic 4.0.105: text that stands in content_block_start is lost without a word, and of a signature in two
# deltas the last piece alone is kept. @anthropic-ai/sdk 1.14.0 keeps the text of the same bytes.
#
# Expected: a block begins with what content_block_start holds, and deltas are added to it. Seen: "Hello" in the start and
# ", world" in a delta give ", world"; a block that is whole in its start gives no text, with the finish reason "stop"; a
# thought's signature "AB" and "CD" is "CD", which goes back with the next request.
#
# Who meets it: makers and users of gateways that speak this wire and do not cut an answer into the vendor's pieces. The
# answer lacks its first words, or is empty, and nothing says so.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error \
  @anthropic-ai/sdk@1.14.0 ai@7.0.173 @ai-sdk/anthropic@4.0.105 >/dev/null
cat >probe.mjs <<'END'
import Anthropic from '@anthropic-ai/sdk'
import { createAnthropic } from '@ai-sdk/anthropic'
import { streamText } from 'ai'

const probe = async (label, start, deltas) => {
  const events = [
    { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [],
      stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: start },
    ...deltas.map(delta => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
  const body = events.map(e => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join('')
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const client = new Anthropic({ apiKey: 'none', maxRetries: 0, fetch })
  const whole = await client.messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }).finalMessage()
  const result = streamText({ model: createAnthropic({ apiKey: 'none', fetch })('m'), prompt: 'hi', maxOutputTokens: 9, maxRetries: 0, onError() {} })
  const text = await result.text, thought = (await result.reasoning)[0]
  const other = thought ? `${thought.text} (${thought.providerMetadata?.anthropic?.signature})` : `${text} (${await result.finishReason})`
  console.log(`${label}: sdk "${whole.content[0].text ?? whole.content[0].thinking}", ai "${other}"`)
}
await probe('begun', { type: 'text', text: 'Hello' }, [{ type: 'text_delta', text: ', world' }])
await probe('whole', { type: 'text', text: 'Hello' }, [])
await probe('signed', { type: 'thinking', thinking: 'I see', signature: '' },
  [{ type: 'thinking_delta', thinking: ' it' }, { type: 'signature_delta', signature: 'AB' }, { type: 'signature_delta', signature: 'CD' }])
END
node probe.mjs 2>/dev/null | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'begun: sdk "Hello, world", ai ", world (stop)"' out || fail "text at the start and in a delta"
grep -qx 'whole: sdk "Hello", ai " (stop)"' out || fail "a block that is whole in its start"
grep -qx 'signed: sdk "I see it", ai " it (CD)"' out || fail "a thought at the start, a signature in two pieces"
echo "as stated: what a block begins with is lost"
