#!/usr/bin/env bash
# gitdiff-parser 0.3.1: of a diff by git, a new file without content is a change, a binary file that is new is one too, a
# change of the mode is gone, and names with blanks or in quotes are other names.
#
# Expected: what git says in the lines that the parser reads ("new file mode", "old mode", quotes of git's). Seen: a new file
# with content is "add", one without is "modify"; "--- a/a b<TAB>", the form that git gives each name with a blank, is the
# file "a b<TAB>"; "--- \"a/\\"x\\"\"" is a name that begins with "/" and ends with a quote. There is no error. parse-diff
# 0.12.0, run beside it, knows new files.
#
# Who meets it: viewers of a change and assistants that show or approve it by this package (react-diff-view is made for its
# result): a file that a model made empty is shown as a changed one, and one with a blank in its name is not found.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error gitdiff-parser@0.3.1 parse-diff@0.12.0 >/dev/null
cat >probe.mjs <<'END'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import gitdiff from 'gitdiff-parser'
import other from 'parse-diff'

mkdirSync('repo')
const git = (...args) => execFileSync('git', ['-C', 'repo', '-c', 'core.fileMode=true', '-c', 'diff.noprefix=false', ...args]).toString()
git('init', '-q')
writeFileSync('repo/a b', 'one\n')
writeFileSync('repo/"x"', 'one\n')
writeFileSync('repo/script', 'one\n', { mode: 0o644 })
git('add', '.')
git('update-index', '--chmod=-x', 'script')
const tree = git('write-tree').trim()
writeFileSync('repo/a b', 'two\n')
writeFileSync('repo/"x"', 'two\n')
writeFileSync('repo/empty', '')
writeFileSync('repo/full', 'one\n')
writeFileSync('repo/image', '\0')
git('add', '.')
git('update-index', '--chmod=+x', 'script')
const text = git('diff', '--cached', '--no-color', tree)
for (const file of gitdiff.parse(text)) console.log(JSON.stringify([file.type, file.oldPath, file.newPath, file.oldMode ?? '', file.newMode ?? '']))
console.log('parse-diff: new are ' + other(text).filter(file => file.new).map(file => file.to).join(' '))
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
["modify","/\\\"x\\\"\"","/\\\"x\\\"\"","100644","100644"]
["modify","a b\t","a b\t","100644","100644"]
["modify","empty","empty","","100644"]
["add","/dev/null","full","","100644"]
["modify","image","image","","100644"]
["modify","script","script","",""]
parse-diff: new are empty full image
END
echo "as stated: kinds, modes and names are not what git wrote"
