#!/usr/bin/env bash
# @modelcontextprotocol/server-filesystem 2026.8.31: edit_file changes the first of several places that hold oldText, and says
# nothing of the others. An empty oldText is the first place of all: newText is put before the first line.
#
# Expected: an error that asks for more context, as the edit tools of the assistants themselves give one; oldText that is nowhere
# is such an error here too. Seen: with "timeout = 5" in [a] and in [b] the one in [a] is changed, result without isError; an
# empty oldText puts newText at the beginning of a file that has content.
#
# Who meets it: models that were taught on edit tools where a text that occurs twice is refused, and so do not look how often it
# occurs: the edit that was meant for the second function lands in the first, and the result is called a success.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/sdk@1.32.2 >/dev/null
mkdir files
cat >probe.mjs <<'END'
import fs from 'node:fs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const folder = fs.realpathSync('files'), file = folder + '/file'
const client = new Client({ name: 'probe', version: '1' })
const program = 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'
await client.connect(new StdioClientTransport({ command: 'node', args: [program, folder], stderr: 'ignore' }))
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: { path: file, ...args } })
  return (result.isError ? 'error: ' : '') + result.content[0].text
}
const edit = async (oldText, newText) => {
  fs.writeFileSync(file, '[a]\ntimeout = 5\n[b]\ntimeout = 5\n')
  const result = await call('edit_file', { edits: [{ oldText, newText }] })
  console.log(result.startsWith('error: ') ? 'refused' : JSON.stringify(fs.readFileSync(file, 'utf8')))
}
await edit('timeout = 5', 'timeout = 9')
await edit('', 'x\n')
await edit('timeout = 6', 'timeout = 9')
process.exit()
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
"[a]\ntimeout = 9\n[b]\ntimeout = 5\n"
"x\n[a]\ntimeout = 5\n[b]\ntimeout = 5\n"
refused
END
echo "as stated: the first of two places is changed, and nobody is asked"
