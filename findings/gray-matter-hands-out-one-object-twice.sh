#!/usr/bin/env bash
# gray-matter 4.0.3: the same text parsed a second time gives what the caller has made of the first result: its data and its
# content, changes and all.
#
# Expected: two calls give two results, as from JSON.parse. Seen: without options the package remembers every text it was
# given, for the life of the process, and hands out the same data again; where the first caller has set a field, taken one
# away or replaced the content, the second gets that. With options, even empty ones, nothing is remembered.
#
# Who meets it: assistants that read skills, commands and rules with it and complete what they read (a name from the file's
# folder, a cut description): two skills with the same text get the name of the first, and a file that is read again after
# the field was taken out is read without it.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error gray-matter@4.0.3 >/dev/null
cat >probe.mjs <<'END2'
import matter from 'gray-matter'

const text = '---\ndescription: d\n---\nbody'
for (const [label, options] of [['without options', []], ['with options', [{}]]]) {
  const first = matter(text, ...options)
  first.data.name = 'from the first folder'
  delete first.data.description
  first.content = 'cut'
  const second = matter(text, ...options)
  console.log(`${label}: ${JSON.stringify(second.data)} ${second.content}`)
}
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qxF 'without options: {"name":"from the first folder"} cut' out || fail "without options"
grep -qxF 'with options: {"description":"d"} body' out || fail "with options"
echo "as stated: the second result is what the first became"
