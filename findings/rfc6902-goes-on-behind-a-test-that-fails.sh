#!/usr/bin/env bash
# rfc6902 5.4.0 (npm): a "test" that fails guards nothing: the operations behind it are applied, and those before it stay.
#
# Expected: the RFC of that name, section 5: the whole patch fails, and the document is as it was; so does fast-json-patch
# 3.1.1, which is run beside it on a copy, and throws. Seen: a test of the version that the patch was made for fails, the
# value is replaced all the same; the failure is one entry in the list that applyPatch returns, and nothing is thrown.
#
# Who meets it: programs that guard a change by a test (the state of a conversation, settings) and take a call that returns
# for a change that was made as asked: somebody else's newer value is overwritten.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error fast-json-patch@3.1.1 rfc6902@5.4.0 >/dev/null
cat >probe.mjs <<'END'
import one from 'fast-json-patch'
import { applyPatch } from 'rfc6902'

const patch = [
  { op: 'replace', path: '/by', value: 'me' },
  { op: 'test', path: '/version', value: 1 },
  { op: 'replace', path: '/text', value: 'mine' },
]
const two = { version: 2, text: 'theirs', by: 'them' }
const errors = applyPatch(two, patch)
console.log('rfc6902', JSON.stringify(two), errors.map(e => e && e.name))
const three = { version: 2, text: 'theirs', by: 'them' }
try {
  one.applyPatch(three, patch, false, false)
} catch (e) {
  console.log('fast-json-patch', JSON.stringify(three), e.name)
}
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
rfc6902 {"version":2,"text":"mine","by":"me"} [ null, 'TestError', null ]
fast-json-patch {"version":2,"text":"theirs","by":"them"} TEST_OPERATION_FAILED
END
echo "as stated: the change behind the failed test is made"
