#!/usr/bin/env bash
# @modelcontextprotocol/server-filesystem 2026.8.31: edit_file of one line writes the whole file with LF, where it had CRLF, and
# the diff that it answers with shows the one line alone.
#
# Expected: the other lines keep their ends, as they do in write_file's result and in the text that read_text_file gave; or
# the diff tells of them. Seen: "a", "b", "c" with CRLF and an edit of "b" give three lines with LF; the diff has one line out
# and one line in; a dry run shows the same.
#
# Who meets it: assistants that edit through this server in a checkout with CRLF (Windows, .bat, .sln, resources under eol=crlf):
# the review shows every line as changed, blame names the assistant, and the model was told that it changed one line.
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
fs.writeFileSync(file, 'a\r\nb\r\nc\r\n')
console.log('read ' + JSON.stringify(await call('read_text_file', {})))
for (const dryRun of [true, false]) {
  const diff = await call('edit_file', { edits: [{ oldText: 'b', newText: 'B' }], dryRun })
  console.log('changed lines: ' + JSON.stringify(diff.split('\n').filter(line => /^[-+][^-+]/.test(line))))
  console.log('file ' + JSON.stringify(fs.readFileSync(file, 'utf8')))
}
process.exit()
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
read "a\r\nb\r\nc\r\n"
changed lines: ["-b","+B"]
file "a\r\nb\r\nc\r\n"
changed lines: ["-b","+B"]
file "a\nB\nc\n"
END
echo "as stated: an edit of one line changes the ends of all, and does not say so"
