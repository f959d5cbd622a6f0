#!/usr/bin/env bash
# best-effort-json-parser 1.5.1: in JSON that is not whole yet, a number with an exponent loses it, and the exponent together
# with the name behind it becomes the name of the next field.
#
# Expected: the beginning of valid JSON is read as the beginning of what the whole is: values cut short at the end, no other
# names. partial-json 0.1.7, run beside it, does so. Seen: {"x":1e-7,"y":"abc"} without its last two characters is
# {"x":1,"e-7,\"y\"":"abc"}; the list [1e+21,5,6] without its bracket has four elements, [1,"e+21",5,6]. With the last
# character all is right.
#
# Who meets it: programs that show a call's arguments while a model still writes them, or that mend an answer which was cut off
# by the limit of tokens: a rate of 1e-7 is 1, and the field behind it is missing. JSON.stringify writes small and large
# numbers so by itself.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error best-effort-json-parser@1.5.1 partial-json@0.1.7 >/dev/null
cat >probe.cjs <<'END'
const effort = require('best-effort-json-parser').parse
const partial = require('partial-json').parse
for (const [value, cut] of [[{ x: 1e-7, y: 'abc' }, 2], [{ x: 0.5, y: 'abc' }, 2], [[1e21, 5, 6], 1], [{ x: 1e-7, y: 'abc' }, 0]]) {
  const text = JSON.stringify(value)
  const piece = text.slice(0, text.length - cut)
  console.log(`${piece}  ${JSON.stringify(effort(piece))}  ${JSON.stringify(partial(piece))}`)
}
END
node probe.cjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
{"x":1e-7,"y":"abc  {"x":1,"e-7,\"y\"":"abc"}  {"x":1e-7,"y":"abc"}
{"x":0.5,"y":"abc  {"x":0.5,"y":"abc"}  {"x":0.5,"y":"abc"}
[1e+21,5,6  [1,"e+21",5,6]  [1e+21,5,6]
{"x":1e-7,"y":"abc"}  {"x":1e-7,"y":"abc"}  {"x":1e-7,"y":"abc"}
END
echo "as stated: the exponent of a number becomes part of the next name"
