#!/usr/bin/env bash
# jsonrepair 3.15.0: a text that only lacks an escape comes out with other characters. The backslash of a regular expression
# is dropped, and an apostrophe becomes a double quote.
#
# Expected: what is missing is added and what stands there stays: "\d" becomes "\\d", as "hi" between quotes becomes \"hi\".
# Seen: {"pattern": "grep \d+"} becomes {"pattern": "grep d+"}, valid JSON that matches something else; {'m': 'it's'} becomes
# {"m": "it\"s"}. {"path": "C:\new"} is valid JSON already and stays, so its "\n" is a line end. A text that holds whole
# quotes is mended rightly.
#
# Who meets it: assistants in JavaScript that mend a model's arguments by this package before they run the call. A search for
# \d+, \w or \s runs without its backslash and finds nothing or something else, and an edit writes it"s; nobody is told,
# since the result has the right shape.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error jsonrepair@3.15.0 >/dev/null
cat >probe.mjs <<'END'
import { jsonrepair } from 'jsonrepair'

const texts = [
  String.raw`{"pattern": "grep \d+"}`,
  String.raw`{'m': 'it's'}`,
  String.raw`{"path": "C:\new"}`,
  String.raw`{"m": "say "hi" now"}`,
]
for (const text of texts) console.log(`${text}  ${jsonrepair(text)}`)
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
{"pattern": "grep \d+"}  {"pattern": "grep d+"}
{'m': 'it's'}  {"m": "it\"s"}
{"path": "C:\new"}  {"path": "C:\new"}
{"m": "say "hi" now"}  {"m": "say \"hi\" now"}
END
echo "as stated: a backslash is dropped and an apostrophe becomes a quote"
