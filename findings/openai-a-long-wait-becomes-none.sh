#!/usr/bin/env bash
# openai 7.59.0 (npm): a server that asks to wait 120 seconds is asked again in the same second, one that asks for 3 is not.
#
# Expected: a longer Retry-After is a longer wait, or the call ends at once with the error that tells it. Seen: a wait of 60
# seconds and more is passed over, and the backoff of the client is taken instead: three requests within about two seconds,
# then the error. @anthropic-ai/sdk 1.14.0, made by the same generator, waits the whole time.
#
# Who meets it: whoever is over a limit that is counted by the minute. All tries are spent before the limit is over, and
# servers that count refused requests, too, begin to count anew.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error openai@7.59.0 @anthropic-ai/sdk@1.14.0 >/dev/null
cat >probe.mjs <<'END2'
import http from 'node:http'
import OpenAI from 'openai'
import Anthropic from '@anthropic-ai/sdk'

const message = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
const clients = {
  openai: baseURL => new OpenAI({ apiKey: 'none', baseURL }).chat.completions.create(message),
  anthropic: baseURL => new Anthropic({ apiKey: 'none', baseURL }).messages.create(message),
}
for (const [name, ask] of Object.entries(clients)) {
  for (const wait of ['3', '120']) {
    let requests = 0
    const server = http.createServer((request, response) => {
      request.resume()
      requests++
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': wait })
      response.end('{"error":{"message":"slow down"}}')
    })
    await new Promise(ready => server.listen(0, '127.0.0.1', ready))
    const late = new Promise(done => setTimeout(done, 20_000, 'still waits'))
    const answer = ask(`http://127.0.0.1:${server.address().port}`).catch(e => `error ${e.status}`)
    console.log(`${name}, ${wait} s: ${await Promise.race([answer, late])} after ${requests} requests in 20 s`)
    server.close()
    server.closeAllConnections()
  }
}
process.exit()
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'openai, 3 s: error 429 after 3 requests in 20 s' out || fail "a short wait"
grep -qx 'openai, 120 s: error 429 after 3 requests in 20 s' out || fail "a long wait"
grep -qx 'anthropic, 120 s: still waits after 1 requests in 20 s' out || fail "a long wait of the other client"
echo "as stated: the long wait is passed over, and all tries are spent within seconds"
