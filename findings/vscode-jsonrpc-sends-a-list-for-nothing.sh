#!/usr/bin/env bash
# vscode-jsonrpc 10.0.0: sendRequest('m', undefined) and sendNotification('m', undefined) send "params": [null].
#
# Expected: no params, as sendRequest('m') sends, and as JSON.stringify leaves out a field that is undefined. Seen: a list with
# one null, as for sendRequest('m', null). An object is sent as an object, so a method whose parameters are optional gets an
# object from one call and a list from the next.
#
# Who meets it: editors and wrappers whose function hands an optional argument on, sendRequest(method, params), to an assistant
# or a language server. A server that reads params as an object refuses the call, and only the one without an argument.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error vscode-jsonrpc@10.0.0 >/dev/null
cat >probe.mjs <<'END'
import { PassThrough } from 'node:stream'
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node'

const there = new PassThrough(), back = new PassThrough()
let sent = ''
there.on('data', piece => { sent += piece })
const client = createMessageConnection(new StreamMessageReader(back), new StreamMessageWriter(there))
const server = createMessageConnection(new StreamMessageReader(there), new StreamMessageWriter(back))
server.onRequest('m', () => true)
client.listen()
server.listen()
for (const words of [[], [undefined], [null], [{ a: 1 }]]) {
  sent = ''
  await client.sendRequest('m', ...words)
  const { params } = JSON.parse(sent.slice(sent.indexOf('{')))
  console.log((words.length ? String(JSON.stringify(words[0])) : 'none') + ': ' + JSON.stringify(params))
}
sent = ''
await client.sendNotification('n', undefined)
console.log('notification: ' + JSON.stringify(JSON.parse(sent.slice(sent.indexOf('{'))).params))
process.exit()
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
none: undefined
undefined: [null]
null: [null]
{"a":1}: {"a":1}
notification: [null]
END
echo "as stated: undefined is sent as a list with one null"
