#!/usr/bin/env bash
# fast-json-patch 3.1.1: applyPatch puts the values of a patch into the document as they are, so that later operations change
# the patch itself. A patch that is applied to two documents gives two results, and the documents share the value from then
# on.
#
# Expected: a patch is only read, as rfc6902 5.4.0 reads it, run beside it. Seen: of "add an empty list, add 1 to it" the
# first document has [1]; after the second one both have [1,1], and the patch adds [1,1] in place of []. The option that
# leaves the document alone (mutateDocument: false) copies the document, and not the patch: a third one has [1,1,1].
#
# Who meets it: apps that keep an agent's state by patches (a delta a message, as agents' front ends do): the same event
# handed to two stores, to a replay or to a test, and each is changed by the other's.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error fast-json-patch@3.1.1 rfc6902@5.4.0 >/dev/null
cat >probe.mjs <<'END'
import one from 'fast-json-patch'
import * as two from 'rfc6902'

const patch = () => [{ op: 'add', path: '/list', value: [] }, { op: 'add', path: '/list/-', value: 1 }]
const show = (name, value) => console.log(name + ' ' + JSON.stringify(value))
const p = patch()
const a = one.applyPatch({}, p).newDocument
show('first', a)
const b = one.applyPatch({}, p).newDocument
show('after the second', [a, b])
show('patch', p[0])
show('without mutateDocument', one.applyPatch({}, p, false, false).newDocument)
const q = patch(), c = {}, d = {}
two.applyPatch(c, q)
two.applyPatch(d, q)
show('rfc6902', [c, d, q[0]])
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
first {"list":[1]}
after the second [{"list":[1,1]},{"list":[1,1]}]
patch {"op":"add","path":"/list","value":[1,1]}
without mutateDocument {"list":[1,1,1]}
rfc6902 [{"list":[1]},{"list":[1]},{"op":"add","path":"/list","value":[]}]
END
echo "as stated: a patch that was applied is another patch"
