#!/usr/bin/env bash
# pi 1.6.0 (@earendil-works/pi-coding-agent): the edit tool refuses a text that stands in the file once, where another text that
# only looks like it stands in the file too: "Found 2 occurrences of the text".
#
# Expected: its description asks for a text that matches exactly and is unique; one that does and is, is changed. Seen: it is
# found as written, but counted with quotes, dashes, wide and raised digits and blanks at the ends of lines made alike. Of
# "a — b" and "a - b" in one file neither can be changed, nor 2 beside ², and no longer context helps where the lines around are
# the same. A plain quote for a curly one, once in the file, is no error, and makes the other quotes of its line plain as well.
#
# Who meets it: code and tests that hold both forms (typographic and plain quotes, a table of escapes, m² and m2), lines that end
# in blanks as hard breaks of Markdown: the model is told to look for a second place that is not there, and writes the file anew.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME" "$dir/project"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @earendil-works/pi-coding-agent@1.6.0 >/dev/null
node=node
if [ "$(node -p 'parseInt(process.versions.node)')" -lt 22 ]; then # the package asks for it
  npm install --prefix "$dir/node" --no-audit --no-fund --loglevel=error node@24.21.0 >/dev/null
  node="$dir/node/node_modules/node/bin/node"
fi
cat >probe.mjs <<'END'
import fs from 'node:fs'
import { createEditToolDefinition } from '@earendil-works/pi-coding-agent'

const edit = createEditToolDefinition('project')
for (const [content, oldText, newText] of [
  ['a — b\nc - d\n', 'a — b', 'x'],
  ['a — b\na - b\n', 'a — b', 'x'],
  ['area = 2\narea = ²\n', 'area = 2', 'x'],
  ['one\ntwo\none  \ntwo\n', 'one\ntwo', 'x'],
  ['it’s “so”\n', "it's", 'that is'],
]) {
  fs.writeFileSync('project/a', content)
  let said
  try {
    said = (await edit.execute('id', { path: 'a', edits: [{ oldText, newText }] }, undefined, undefined, {})).content[0].text
  } catch (error) { said = 'error: ' + error.message }
  const exact = content.split(oldText).length - 1
  console.log(`${JSON.stringify(oldText)}, ${exact} times: ${said.split('.')[0]}: ${JSON.stringify(fs.readFileSync('project/a', 'utf8'))}`)
}
END
"$node" probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
"a — b", 1 times: Successfully replaced 1 block(s) in a: "x\nc - d\n"
"a — b", 1 times: error: Found 2 occurrences of the text in a: "a — b\na - b\n"
"area = 2", 1 times: error: Found 2 occurrences of the text in a: "area = 2\narea = ²\n"
"one\ntwo", 1 times: error: Found 2 occurrences of the text in a: "one\ntwo\none  \ntwo\n"
"it's", 0 times: Successfully replaced 1 block(s) in a: "that is \"so\"\n"
END
echo "as stated: what looks like the text is counted with it"
