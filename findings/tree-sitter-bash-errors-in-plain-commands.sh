#!/usr/bin/env bash
# tree-sitter-bash 0.25.1 by web-tree-sitter 0.27.2: some plain commands, POSIX ones among them, come out with an ERROR,
# while what looks hard does not.
#
# Expected: trouble with bash's own rare forms (coproc, {fd}>file, ${x@Q}); none with `[ a \< b ]`, a for loop over the
# script's own words, a second here document, `<>`, or a program whose name holds "@" or "%". Seen: just the other way.
# bash -n accepts every one of them.
#
# Who meets it: assistants that read a command by this grammar before they run it, and ask or refuse where it cannot be
# read. Their users see a question for a command that is plain, and none for the odd one.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
# The grammar's package brings its wasm; what it would build or fetch for Node itself is left out.
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error web-tree-sitter@0.27.2 tree-sitter-bash@0.25.1 >/dev/null
cat >probe.mjs <<'END2'
import { spawnSync } from 'node:child_process'
import { Language, Parser } from 'web-tree-sitter'

await Parser.init()
const parser = new Parser()
parser.setLanguage(await Language.load('node_modules/tree-sitter-bash/tree-sitter-bash.wasm'))
const groups = {
  hard: ['coproc cat\n', 'exec {fd}>f\n', 'echo "${x@Q}"\n', '! ! true\n', 'cat <<< a <<< b\n'],
  plain: ['[ a \\< b ]\n', 'for f do ls; done\n', 'cat /dev/fd/3 3<<A <<B\n1\nA\n2\nB\n', 'cat <> f\n', 'a@b\n', 'a%b\n'],
}
for (const [group, commands] of Object.entries(groups))
  for (const command of commands) {
    const bash = spawnSync('bash', ['-n', '-c', command])
    const read = bash.status === 0 && bash.stderr.length === 0 ? 'bash accepts' : 'bash refuses'
    console.log(`${group} ${JSON.stringify(command)}: ${read}, the grammar ${parser.parse(command).rootNode.hasError ? 'ERROR' : 'ok'}`)
  }
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
[ "$(grep -c '^hard .*: bash accepts, the grammar ok$' out)" = 5 ] || fail "the hard ones"
[ "$(grep -c '^plain .*: bash accepts, the grammar ERROR$' out)" = 6 ] || fail "the plain ones"
echo "as stated: the rare forms are read, and plain ones are errors"
