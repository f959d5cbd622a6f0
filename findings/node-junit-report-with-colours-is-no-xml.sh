#!/usr/bin/env bash
# node 24.21.0: `node --test --test-reporter=junit` writes the escape characters of colours into the report as they are. XML
# does not allow them, so one failed comparison makes the whole file unreadable.
#
# Expected: colours are left out of a report in XML, or the characters are dropped, as "--" in a diagnostic is taken care of,
# which a comment may not hold. Seen: with FORCE_COLOR=1 each failed deepStrictEqual has ESC in the attributes "failure" and
# "message" and in the text; without it the same file is well-formed. An error whose message quotes the coloured output of
# another program has them without FORCE_COLOR, too.
#
# Who meets it: pipelines that set FORCE_COLOR for a readable log, which many do: the report can be read as long as all is well,
# and just the run in which a test fails shows no tests at all. Assistants that read a report to see what failed.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 reads the report here, and is not installed"; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
unset FORCE_COLOR NO_COLOR NODE_DISABLE_COLORS NODE_TEST_CONTEXT
mkdir -p "$HOME"
npm install --prefix "$dir/npm" --no-audit --no-fund --loglevel=error node@24.21.0 >/dev/null
node="$dir/npm/node_modules/node/bin/node"
cd "$dir"
cat >a.test.mjs <<'END'
import test from 'node:test'
import assert from 'node:assert'
test('passes', () => assert.deepStrictEqual({ a: 1 }, { a: 1 }))
test('differs', () => assert.deepStrictEqual({ a: 1 }, { a: 2 }))
test('quotes', () => { throw new Error('the linter said \x1b[31mno\x1b[0m') })
test('notes', t => t.diagnostic('see --help'))
END
for colour in '' 1; do
  for name in passes differs quotes notes; do
    env ${colour:+FORCE_COLOR=$colour} "$node" --test --test-reporter=junit --test-name-pattern=$name a.test.mjs >report.xml || true
    grep -q "testcase name=\"$name\"" report.xml || { echo "changed: no case of that name"; exit 1; }
    python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("report.xml")' 2>/dev/null && said='well-formed' || said='no XML'
    echo "colour ${colour:-0}, $name: $said"
  done
done | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
colour 0, passes: well-formed
colour 0, differs: well-formed
colour 0, quotes: no XML
colour 0, notes: well-formed
colour 1, passes: well-formed
colour 1, differs: no XML
colour 1, quotes: no XML
colour 1, notes: well-formed
END
echo "as stated: a failed test with colours makes the report unreadable"
