#!/usr/bin/env bash
# json-rpc-2.0 1.8.1 (npm): a batch whose answer has one entry is answered with that entry, not with a list that holds it.
#
# Expected: the specification of JSON-RPC 2.0, section 6: the answer to a batch is an array of the answers; its own example
# with one answer is one too. Seen: of one call and one notification in a list the answer is an object; a list of one call as
# well. Two calls come back as a list, and a list of notifications alone gives nothing, as it should.
#
# Who meets it: servers built on this package whose clients send what they have in lists (a batch in each frame): the last
# call alone gets an answer that such a client cannot tell from one to a single call, or reads as a broken batch.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error json-rpc-2.0@1.8.1 >/dev/null
cat >probe.mjs <<'END'
import rpc from 'json-rpc-2.0'

const server = new rpc.JSONRPCServer()
server.addMethod('f', value => value)
const call = id => ({ jsonrpc: '2.0', id, method: 'f', params: [id] })
const notice = { jsonrpc: '2.0', method: 'f', params: [0] }
const show = async (name, batch) => console.log(name + ': ' + JSON.stringify(await server.receive(batch)))
await show('two calls', [call(1), call(2)])
await show('a call and a notification', [call(1), notice])
await show('one call in a list', [call(1)])
await show('notifications', [notice, notice])
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
two calls: [{"jsonrpc":"2.0","id":1,"result":[1]},{"jsonrpc":"2.0","id":2,"result":[2]}]
a call and a notification: {"jsonrpc":"2.0","id":1,"result":[1]}
one call in a list: {"jsonrpc":"2.0","id":1,"result":[1]}
notifications: null
END
echo "as stated: one answer of a batch is no list"
