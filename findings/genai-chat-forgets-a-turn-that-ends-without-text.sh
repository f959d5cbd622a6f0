#!/usr/bin/env bash
# @google/genai 3.3.0: a chat forgets a whole turn, the user's message too, where the last event of the answer's stream
# holds no text of its own: a count of tokens alone, or a finish reason with a content that has no parts.
#
# Expected: what the answer says is what the text of all events says, as `chunk.text` gives it to the caller; the next
# request brings the first question and its answer along. Seen: the answer is shown whole, finishes with STOP, nothing is
# thrown; the next request holds the second question alone. An empty text in the same place ("text": "") loses nothing.
# getHistory() still has the turn, getHistory(true) and the requests do not.
#
# Who meets it: makers of assistants on this library's chats, behind a gateway that sends the count of tokens last, as the
# other makers' streams do, or with models that end with a finish reason alone: the model has forgotten what was just said.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @google/genai@3.3.0 >/dev/null
cat >probe.mjs <<'END2'
import http from 'node:http'
import { GoogleGenAI } from '@google/genai'

const said = (parts, finishReason) => ({ candidates: [{ index: 0, content: { role: 'model', parts }, finishReason }] })
const streams = {
  'text in the last event': [said([{ text: 'Hel' }]), said([{ text: 'lo' }], 'STOP')],
  'an empty text last': [said([{ text: 'Hello' }]), said([{ text: '' }], 'STOP')],
  'no parts last': [said([{ text: 'Hello' }]), said(undefined, 'STOP')],
  'the count of tokens last': [said([{ text: 'Hello' }], 'STOP'), { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 } }],
}
for (const [name, events] of Object.entries(streams)) {
  const asked = []
  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    asked.push(JSON.parse(body).contents)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(events.map(e => `data: ${JSON.stringify(e)}\r\n\r\n`).join(''))
  })
  await new Promise(ready => server.listen(0, '127.0.0.1', ready))
  const baseUrl = `http://127.0.0.1:${server.address().port}`
  const chat = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } }).chats.create({ model: 'm' })
  let text = ''
  for (const message of ['first', 'second']) {
    text = ''
    for await (const chunk of await chat.sendMessageStream({ message })) text += chunk.text ?? ''
  }
  const sent = asked[1].map(c => c.parts.map(p => p.text).join('')).filter(t => t).join(' ')
  console.log(`${name}: shown ${text}, second request: ${sent}`)
  server.close()
  server.closeAllConnections()
}
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'text in the last event: shown Hello, second request: first Hel lo second' out || fail "a stream that ends with text"
grep -qx 'an empty text last: shown Hello, second request: first Hello second' out || fail "a stream that ends with an empty text"
grep -qx 'no parts last: shown Hello, second request: second' out || fail "a stream whose last content has no parts"
grep -qx 'the count of tokens last: shown Hello, second request: second' out || fail "a stream that ends with the count of tokens"
echo "as stated: the answer was shown, and the next request knows nothing of it"
