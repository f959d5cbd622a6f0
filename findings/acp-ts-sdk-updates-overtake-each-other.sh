#!/usr/bin/env bash
# @agentclientprotocol/sdk 2.4.0: a client's handler of session/update is not waited for. A later update is handled while an
# earlier one is still at work, and the answer to session/prompt comes before either has ended.
#
# Expected: one after the other, as they were sent, since the handler returns a promise and the pieces of a text mean
# something in their order alone; the end of the turn after the last of them. Seen: of the updates "one" (whose handler
# waits 100 ms) and "two", "two" is done first, and at the end of the turn "one" is not.
#
# Who meets it: editors and wrappers of assistants whose handler awaits something (writes a file, draws, asks a database):
# text in the wrong order, and a turn whose answer lacks a piece when it is stored at its end.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @agentclientprotocol/sdk@2.4.0 >/dev/null
cat >probe.mjs <<'END2'
import { setTimeout as wait } from 'node:timers/promises'
import { agent, client, methods } from '@agentclientprotocol/sdk'

const update = text => ({ sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } })
const there = agent({ name: 'a' })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: 1, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: 's' }))
  .onRequest(methods.agent.session.prompt, async ({ client: peer }) => {
    await peer.notify(methods.client.session.update, update('one'))
    await peer.notify(methods.client.session.update, update('two'))
    return { stopReason: 'end_turn' }
  })
const done = []
const here = client({ name: 'c' }).onNotification(methods.client.session.update, async ({ params }) => {
  const { text } = params.update.content
  if (text === 'one') await wait(100)
  done.push(text)
})
await here.connectWith(there, async peer => {
  await peer.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} })
  await peer.request(methods.agent.session.new, { cwd: '/', mcpServers: [] })
  await peer.request(methods.agent.session.prompt, { sessionId: 's', prompt: [{ type: 'text', text: 'hi' }] })
  console.log('at the end of the turn:', done.join(' '))
  await wait(500)
  console.log('later:', done.join(' '))
})
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'at the end of the turn: two' out || fail "what is done at the end of the turn"
grep -qx 'later: two one' out || fail "the order"
echo "as stated: the second overtook the first, and the turn ended before it"
