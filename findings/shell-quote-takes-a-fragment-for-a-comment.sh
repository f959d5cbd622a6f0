#!/usr/bin/env bash
# shell-quote 1.12.0: parse() begins a comment at a "#" in the middle of a word.
#
# Expected: as every shell has it: a "#" begins a comment at the beginning of a word alone. Seen: of "curl
# http://host/page#part -o out" the address ends before the "#", and "#part -o out" is a comment, so that the words behind
# it are gone as well; in the same way "git show fix#12 -- file" ends at "fix". bash is run beside it. In quotes all is well.
#
# Who meets it: assistants and editors that read a command's words with this package, to show it, to match it with a rule
# or to run it: the part of an address, a branch named after an issue, "nix run nixpkgs#hello".
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error shell-quote@1.12.0 >/dev/null
cat >probe.mjs <<'END2'
import { execFileSync } from 'node:child_process'
import { parse } from 'shell-quote'

for (const line of ['nix run nixpkgs#hello -- -g hi', 'curl http://host/page#part -o out', 'git show fix#12 -- file', "echo 'a#b' c", 'echo a #b c']) {
  const words = parse(line).map(w => typeof w === 'string' ? w : `(comment:${w.comment})`)
  const bash = execFileSync('bash', ['-c', `printf '%s|' ${line}\n`]).toString()
  console.log(`${line}: bash ${bash} shell-quote ${words.join('|')}`)
}
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
has() { grep -qxF -- "$1" out || fail "$2"; }
has 'nix run nixpkgs#hello -- -g hi: bash nix|run|nixpkgs#hello|--|-g|hi| shell-quote nix|run|nixpkgs|(comment:hello -- -g hi)' "a name behind #"
has 'curl http://host/page#part -o out: bash curl|http://host/page#part|-o|out| shell-quote curl|http://host/page|(comment:part -o out)' "an address"
has 'git show fix#12 -- file: bash git|show|fix#12|--|file| shell-quote git|show|fix|(comment:12 -- file)' "a branch"
has "echo 'a#b' c: bash echo|a#b|c| shell-quote echo|a#b|c" "a # in quotes"
has 'echo a #b c: bash echo|a| shell-quote echo|a|(comment:b c)' "a comment"
echo "as stated: the words behind a # in a word are taken for a comment"
