#!/usr/bin/env bash
# @google/gemini-cli 0.61.0: "context": {"fileName": "CONTEXT.md"} in the settings does not switch GEMINI.md off; both are sent.
#
# Expected: the setting names the file, so another name replaces the usual one. Seen: the request holds CONTEXT.md and then
# GEMINI.md. A list of names without GEMINI.md reads the same.
#
# Who meets it: teams that renamed the file and left an old GEMINI.md behind: its rules still count, and are paid for each time.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME/.gemini" "$dir/work/.gemini"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @google/gemini-cli@0.61.0 >/dev/null
echo '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' >"$HOME/.gemini/settings.json"
echo 'the word is alpha' >work/CONTEXT.md
echo 'the word is beta' >work/GEMINI.md
git init -q work
cat >probe.mjs <<'END2'
import http from 'node:http'
import fs from 'node:fs'
import { spawn } from 'node:child_process'

for (const fileName of [undefined, 'CONTEXT.md', ['CONTEXT.md']]) {
  fs.writeFileSync('work/.gemini/settings.json', JSON.stringify({ context: { fileName } }))
  const words = new Set()
  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    for (const [word] of body.matchAll(/alpha|beta/g)) words.add(word)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end('data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}]}\n\n')
  })
  await new Promise(ready => server.listen(0, '127.0.0.1', ready))
  const env = { ...process.env, GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${server.address().port}`, GEMINI_CLI_TRUST_WORKSPACE: 'true' }
  const gemini = spawn('../node_modules/.bin/gemini', ['-m', 'gemini-2.5-flash', '-p', 'hi'], { cwd: 'work', env, stdio: 'ignore' })
  await new Promise(done => gemini.on('close', done))
  console.log(`${JSON.stringify(fileName) ?? 'no name'}: ${[...words].sort().join(' ')}`)
  server.close()
  server.closeAllConnections()
}
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'no name: beta' out || fail "without a name"
grep -qx '"CONTEXT.md": alpha beta' out || fail "with a name"
echo "as stated: the usual file is sent beside the named one"
