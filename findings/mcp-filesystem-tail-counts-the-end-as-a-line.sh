#!/usr/bin/env bash
# @modelcontextprotocol/server-filesystem 2026.8.31: read_text_file with tail: N gives the last N-1 lines of a file that ends in
# a line end; tail: 1 gives an empty text.
#
# Expected: the last N lines, as tail -n N prints them (run beside it here), and as head: N counts in the same tool. Seen: of
# "one\ntwo\n" tail: 1 is "" and tail: 2 is "two\n", without isError; without the last line end tail: 1 is "two"; head: 1 is
# "one". The line end behind the last line counts as one more, empty line.
#
# Who meets it: models that look at the end of a log by this server: asked for the last line, they read nothing, and say that
# the log is empty or that the program wrote nothing.
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
const read = async (text, args) => {
  fs.writeFileSync(file, text)
  const result = await client.callTool({ name: 'read_text_file', arguments: { path: file, ...args } })
  console.log(JSON.stringify(text), JSON.stringify(args), JSON.stringify(result.content[0].text))
}
await read('one\ntwo\n', { tail: 1 })
await read('one\ntwo\n', { tail: 2 })
await read('one\ntwo', { tail: 1 })
await read('one\ntwo\n', { head: 1 })
process.exit()
END
node probe.mjs | tee out
printf 'one\ntwo\n' | tail -n 1 | tee -a out
diff out - <<'END' || { echo "changed"; exit 1; }
"one\ntwo\n" {"tail":1} ""
"one\ntwo\n" {"tail":2} "two\n"
"one\ntwo" {"tail":1} "two"
"one\ntwo\n" {"head":1} "one"
two
END
echo "as stated: the last line is read as nothing"
