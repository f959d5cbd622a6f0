#!/usr/bin/env bash
# @modelcontextprotocol/server-memory 2026.8.31: of calls that are sent together all answer with what they stored, and one alone
# is in the file. The same with edit_file of server-filesystem 2026.8.31, run beside it.
#
# Expected: one process that holds one file does its calls one after the other, or the later ones on top of the earlier. Seen:
# five create_entities at once give five results with the new entity, and the graph then has fewer than five; each reads the
# file, changes what it read, and writes all of it back. Of five edits of one file each answers with a diff, and fewer than five
# are in the file. One after the other, all are kept.
#
# Who meets it: assistants that run the calls of one answer together, which models ask for: "remember these five things" leaves
# one, and nothing says so to the model or the user. Neither tool is marked as one that may not overlap.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error \
  @modelcontextprotocol/server-memory@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/sdk@1.32.2 >/dev/null
mkdir files
cat >probe.mjs <<'END'
import fs from 'node:fs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const start = async (name, words, env) => {
  const client = new Client({ name: 'probe', version: '1' })
  const args = [`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, ...words]
  await client.connect(new StdioClientTransport({ command: 'node', args, env: { ...process.env, ...env }, stderr: 'ignore' }))
  return (name, args) => client.callTool({ name, arguments: args })
}
const folder = fs.realpathSync('files'), five = ['1', '2', '3', '4', '5']
const memory = await start('memory', [], { MEMORY_FILE_PATH: folder + '/graph' })
const files = await start('filesystem', [folder], {})
const remember = name => memory('create_entities', { entities: [{ name, entityType: 't', observations: [] }] })
const edit = name => files('edit_file', { path: folder + '/text', edits: [{ oldText: 'end', newText: name + '\nend' }] })
const inGraph = async () => JSON.parse((await memory('read_graph', {})).content[0].text).entities.length
const inText = () => fs.readFileSync(folder + '/text', 'utf8').split('\n').length - 2
const told = results => results.filter(r => !r.isError && /"name": "\d"|^\+\d/m.test(r.content[0].text)).length
const clear = () => { fs.writeFileSync(folder + '/graph', ''); fs.writeFileSync(folder + '/text', 'end\n') }
const say = (what, told, kept) => console.log(`${what}: ${told} told, ${kept === 5 ? 'all kept' : 'some lost'}`)

for (const [what, make, kept] of [['memory', remember, inGraph], ['files', edit, inText]]) {
  clear()
  const results = []
  for (const name of five) results.push(await make(name))
  say(what + ', one by one', told(results), await kept())
  clear()
  say(what + ', together', told(await Promise.all(five.map(make))), await kept())
}
process.exit()
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
memory, one by one: 5 told, all kept
memory, together: 5 told, some lost
files, one by one: 5 told, all kept
files, together: 5 told, some lost
END
echo "as stated: five are told that they are stored, and not all are"
