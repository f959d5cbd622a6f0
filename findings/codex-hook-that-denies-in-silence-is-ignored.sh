#!/usr/bin/env bash
# @openai/codex 0.171.0: a PreToolUse hook that ends with code 2 and writes nothing does not hold up the call.
#
# Expected: code 2 denies, with words on standard error or without, as in Claude Code, whose form the file has. Seen: with a
# word on standard error the command is blocked; without one codex counts the hook as failed and runs the command.
#
# Who meets it: teams that share a guard such as `grep -q secret && exit 2` between assistants.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME/.codex" "$dir/work/.codex"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --loglevel=error @openai/codex@0.171.0 >/dev/null
git init -q work
cat >server.mjs <<'END2'
import fs from 'node:fs'
import http from 'node:http'

const response = (output, status) => ({ id: 'r1', object: 'response', created_at: 1, model: 'm', status, output, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } })
const stream = item => [{ type: 'response.created', response: response([], 'in_progress') }, { type: 'response.output_item.done', output_index: 0, item }, { type: 'response.completed', response: response([item], 'completed') }]
  .map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const call = stream({ type: 'function_call', id: 'f1', call_id: 'c1', name: 'exec_command', arguments: JSON.stringify({ cmd: 'echo ran >ran.txt' }) })
const end = stream({ type: 'message', id: 'm1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'done', annotations: [] }] })
http.createServer((request, answer) => {
  let body = ''
  request.on('data', piece => body += piece).on('end', () => {
    if (request.method !== 'POST') return answer.end('{"data":[{"id":"m"}],"models":[]}')
    answer.setHeader('content-type', 'text/event-stream')
    answer.end(body.includes('function_call_output') ? end : call)
  })
}).listen(0, '127.0.0.1', function () { fs.writeFileSync('port', String(this.address().port)) })
END2
node server.mjs &
server=$!
trap 'kill $server; rm -rf "$dir"' EXIT
until [ -s port ]; do sleep 0.1; done
cat >"$HOME/.codex/config.toml" <<END2
model = "m"
model_provider = "here"
[model_providers.here]
name = "here"
base_url = "http://127.0.0.1:$(cat port)/v1"
wire_api = "responses"
env_key = "KEY"
[projects."$dir/work"]
trust_level = "trusted"
END2
try() {
  printf '#!/bin/sh\ncat >/dev/null\n%s\n' "$1" >guard.sh
  chmod +x guard.sh
  printf '{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"%s/guard.sh"}]}]}}' "$dir" >work/.codex/hooks.json
  rm -f work/ran.txt
  (cd work && KEY=none timeout 60 ../node_modules/.bin/codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust hi </dev/null >../out 2>&1) || true
  if [ -e work/ran.txt ]; then echo "$2: the command ran"; else echo "$2: the command was blocked"; fi
}
fail() { echo "changed: $*"; exit 1; }
try 'echo no >&2; exit 2' 'with a word' | tee -a seen
try 'exit 2' 'in silence' | tee -a seen
grep -qx 'with a word: the command was blocked' seen || fail "a guard that says why"
grep -qx 'in silence: the command ran' seen || fail "a guard that says nothing"
echo "as stated: code 2 without a word denies nothing"
