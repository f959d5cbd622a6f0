#!/usr/bin/env bash
# string-argv 0.4.0: in a word in quotes, a quote behind a backslash is dropped and the backslash stays, so that JSON in a
# command's argument is no JSON any more.
#
# Expected: as in a shell (bash, and shlex 3.0.0, are run beside it): \" between quotes is a quote. Seen: "{\"a\":1}" arrives
# as {\a\:1}, neither as meant nor as it stood there; two backslashes stay two. Quotes in the middle of a word are right. No
# error.
#
# Who meets it: tools that take a command as one text from settings and split it by this package before they start it without
# a shell: arguments with JSON, messages of a commit with quotes, regular expressions.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error string-argv@0.4.0 shlex@3.0.0 >/dev/null
cat >probe.mjs <<'END'
import { execFileSync } from 'node:child_process'
import { split } from 'shlex'
import parse from 'string-argv'

for (const line of ['x "{\\"a\\":1}"', 'x -m "say \\"hi\\""', 'x "a\\\\b"', 'x --y="a b"c']) {
  const bash = execFileSync('bash', ['-c', `printf '%s\\0' ${line}`]).toString().split('\0').slice(0, -1)
  console.log(line)
  console.log('  bash ' + JSON.stringify(bash) + ', shlex ' + JSON.stringify(split(line)))
  console.log('  string-argv ' + JSON.stringify(parse(line)))
}
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
x "{\"a\":1}"
  bash ["x","{\"a\":1}"], shlex ["x","{\"a\":1}"]
  string-argv ["x","{\\a\\:1}"]
x -m "say \"hi\""
  bash ["x","-m","say \"hi\""], shlex ["x","-m","say \"hi\""]
  string-argv ["x","-m","say \\hi\\"]
x "a\\b"
  bash ["x","a\\b"], shlex ["x","a\\b"]
  string-argv ["x","a\\\\b"]
x --y="a b"c
  bash ["x","--y=a bc"], shlex ["x","--y=a bc"]
  string-argv ["x","--y=a bc"]
END
echo "as stated: the quote is gone and its backslash is there"
