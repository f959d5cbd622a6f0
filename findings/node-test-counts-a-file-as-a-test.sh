#!/usr/bin/env bash
# node 22.23.3: "node --test" counts a file without a test, and one whose tests a name pattern leaves out, as one test that
# passed. The summary says "tests 1, pass 1", exit code 0.
#
# Expected: 0 tests, as "node --test" says where it finds no file, or a failure as in vitest and mocha ("no test found").
# Seen: each file is a test by itself as long as it holds none, and becomes none as soon as it holds one that runs.
#
# Who meets it: whoever runs one test by its name and misspells it. A person or an assistant reads "pass 1, fail 0" as
# evidence that the test passed, and nothing ran.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
unset NODE_TEST_CONTEXT NODE_OPTIONS
mkdir -p "$HOME" "$dir/project"
npm install --prefix "$dir/npm" --no-audit --no-fund --loglevel=error node@22.23.3 >/dev/null
node="$dir/npm/node_modules/.bin/node"
"$node" --version
cd "$dir/project"
echo "export const sum = (a, b) => a + b" >plain.mjs
echo "import test from 'node:test'; test('adds', () => { throw new Error('wrong') })" >one.mjs
tests() {
  local rc=0
  "$node" --test --test-reporter=tap "$@" >out 2>&1 || rc=$?
  echo "$(grep -E '^# (tests|pass|fail) ' out | tr -d '#' | tr -s ' \n' ' ')exit $rc" | sed 's/^ //'
}
fail() { echo "changed: $*"; exit 1; }
echo "a file without tests:      $(tests plain.mjs)"
echo "a name that matches none:  $(tests --test-name-pattern=ads one.mjs)"
echo "the failing test, by name: $(tests --test-name-pattern=adds one.mjs)"
[ "$(tests plain.mjs)" = "tests 1 pass 1 fail 0 exit 0" ] || fail "a file without tests"
[ "$(tests --test-name-pattern=ads one.mjs)" = "tests 1 pass 1 fail 0 exit 0" ] || fail "a name that matches none"
[ "$(tests --test-name-pattern=adds one.mjs)" = "tests 1 pass 0 fail 1 exit 1" ] || fail "the failing test"
echo "as stated: a run without a test says that one passed"
