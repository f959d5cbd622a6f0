#!/usr/bin/env bash
# diff 9.0.0 (jsdiff): applyPatch of a hunk that only adds, and names a line behind the end of the text, fills the gap with empty
# lines and takes away the last line end.
#
# Expected: false, as for every hunk that does not fit, or the line at the end of the text. Seen: "@@ -9,0 +10 @@" with "+z" and
# a text of one line give that line, eight empty lines, and "z" without a line end; git 2.39.5 puts "z" behind the one line. The
# same hunk with one line of context is refused by applyPatch.
#
# Who meets it: assistants and editors that apply a model's diff, or one made with -U0, by this package: models count lines badly,
# and a hunk that adds an import at a line that is not there comes back as a file with holes, as a success.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error diff@9.0.0 >/dev/null
cat >probe.mjs <<'END'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { applyPatch } from 'diff'

const patch = hunk => '--- a/x\n+++ b/x\n' + hunk
const bare = patch('@@ -9,0 +10 @@\n+z\n'), based = patch('@@ -9 +9,2 @@\n b\n+z\n')
for (const [name, text] of [['bare', bare], ['based', based]]) console.log(name + ' ' + JSON.stringify(applyPatch('a\n', text)))
writeFileSync('x', 'a\n')
writeFileSync('bare.patch', bare)
execFileSync('git', ['apply', '--unidiff-zero', 'bare.patch'])
console.log('git ' + JSON.stringify(readFileSync('x', 'utf8')))
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
bare "a\n\n\n\n\n\n\n\n\nz"
based false
git "a\nz\n"
END
echo "as stated: eight empty lines come with the new one"
