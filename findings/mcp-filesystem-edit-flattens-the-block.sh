#!/usr/bin/env bash
# @modelcontextprotocol/server-filesystem 2026.8.31: where edit_file finds oldText with another indentation than the file's, the
# new text is written with the levels of its block gone: each line that was as deep in oldText as in newText gets the depth of
# the first.
#
# Expected: the whole block is moved to where the old one stood, its levels kept, or the edit is refused. Seen: a model that
# writes two blanks for a tab, or leaves out what stands left of a block, has the body of its "if" put at the depth of the "if";
# the result is a success. The same edit written with the file's own indentation is right.
#
# Who meets it: Python and YAML, where the depth is the meaning: a body outside of its "if" is a syntax error at best, a key
# under another parent at worst. Elsewhere the file is valid and badly set.
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
const edit = async (text, oldText, newText) => {
  fs.writeFileSync(file, text)
  const result = await call('edit_file', { edits: [{ oldText, newText }] })
  console.log(result.startsWith('error: ') ? 'refused' : JSON.stringify(fs.readFileSync(file, 'utf8')))
}
const python = 'def f():\n\tif x:\n\t\ta()\n'
await edit(python, '\tif x:\n\t\ta()', '\tif y:\n\t\ta()')
await edit(python, 'if x:\n  a()', 'if y:\n  a()')
await edit('job:\n    env:\n        A: one\n    run: x\n', 'env:\n  A: one', 'env:\n  A: two')
process.exit()
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
"def f():\n\tif y:\n\t\ta()\n"
"def f():\n\tif y:\n\ta()\n"
"job:\n    env:\n    A: two\n    run: x\n"
END
echo "as stated: the body comes out as deep as its head"
