#!/usr/bin/env bash
# @agentclientprotocol/sdk 2.4.0: a word that the client does not know is answered in three ways. In an entry of a plan the
# entry vanishes; as the kind or the state of a tool's call the field vanishes; as the kind of a content block the whole
# update is lost.
#
# Expected: one way: the update as it was sent, or an error to the agent. Seen: a plan with one new priority among two
# entries arrives with the other entry alone, nothing is said; a call that goes from "in_progress" to a state of a later
# version arrives without a state, and so stays in progress; a content block of a new kind is written to the console of
# the client ("Error handling notification") and the agent is told nothing.
#
# Who meets it: clients that are a version behind their agent: plans with holes, calls that never end.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @agentclientprotocol/sdk@2.4.0 >/dev/null
cat >probe.mjs <<'END2'
import { PassThrough, Readable, Writable } from 'node:stream'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk'

const toAgent = new PassThrough(), toClient = new PassThrough()
const send = message => toClient.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')
const entry = (content, priority) => ({ content, priority, status: 'pending' })
const updates = [
  { sessionUpdate: 'plan', entries: [entry('first', 'high'), entry('second', 'urgent')] },
  { sessionUpdate: 'tool_call_update', toolCallId: '1', title: 't', status: 'cancelled' },
  { sessionUpdate: 'tool_call_update', toolCallId: '2', title: 't', kind: 'review' },
  { sessionUpdate: 'agent_message_chunk', content: { type: 'video', uri: 'file:///v' } },
  { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'end' } },
]
const replies = []
createInterface({ input: toAgent }).on('line', line => {
  const { id, method, ...rest } = JSON.parse(line)
  if (method === methods.agent.initialize) send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
  else if (method === methods.agent.session.new) send({ id, result: { sessionId: 's' } })
  else if (method === methods.agent.session.prompt) {
    for (const update of updates) send({ method: methods.client.session.update, params: { sessionId: 's', update } })
    send({ id, result: { stopReason: 'end_turn' } })
  } else replies.push(rest)
})
let logged = 0
console.error = () => logged++
const app = client({ name: 'c' }).onNotification(methods.client.session.update, ({ params: { update: u } }) => {
  const what = u.entries?.map(e => e.content).join(' ') ?? u.content?.text ?? `call ${u.toolCallId} status ${u.status} kind ${u.kind}`
  console.log(`${u.sessionUpdate}: ${what}`)
})
await app.connectWith(ndJsonStream(Writable.toWeb(toAgent), Readable.toWeb(toClient)), async peer => {
  await peer.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} })
  await peer.request(methods.agent.session.new, { cwd: '/', mcpServers: [] })
  await peer.request(methods.agent.session.prompt, { sessionId: 's', prompt: [{ type: 'text', text: 'hi' }] })
  await wait(200)
  console.log(`logged ${logged}, told to the agent ${replies.length}`)
})
process.exit()
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'plan: first' out || fail "the plan"
grep -qx 'tool_call_update: call 1 status undefined kind undefined' out || fail "the state of a call"
grep -qx 'tool_call_update: call 2 status undefined kind undefined' out || fail "the kind of a call"
[ "$(grep -c '^agent_message_chunk: ' out)" = 1 ] || fail "the content block"
grep -qx 'logged 1, told to the agent 0' out || fail "what is said"
echo "as stated: an entry, a field and a whole update are lost, and the agent is told nothing"
