#!/usr/bin/env bash
# jsonc-parser 3.3.1: modify() that takes a property away takes the comment above the next property along. Where a comma stands
# behind the last property, taking it away leaves a file that cannot be read.
#
# Expected: the package is made for edits of settings that keep the comments of people: what was written above the next property
# belongs to that and stays. Seen: of "a" and "b", each with a comment above it, taking "a" away leaves "b" without a comment,
# its own gone with that of "a"; taking "b" away puts the comment beside "b" beside "a". {"a": 1,} becomes { , }, which the same package
# refuses even with allowTrailingComma; an element of a list in the same place goes with its comma. Of a name that stands
# twice the first is changed, and parse() of the same package gives the second, so that the change has no effect.
#
# Who meets it: editors and assistants that remove one server, key or rule from a person's settings with this package: the note
# that says why the next one is there is lost, and after the only one is removed all settings of the file are.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error jsonc-parser@3.3.1 >/dev/null
cat >probe.cjs <<'END'
const { modify, applyEdits, parse } = require('jsonc-parser')
const show = (text, path, value) => {
  const after = applyEdits(text, modify(text, path, value, { formattingOptions: { insertSpaces: true, tabSize: 2 } }))
  const errors = []
  const read = parse(after, errors, { allowTrailingComma: true })
  console.log(JSON.stringify(after), errors.length ? 'cannot be read' : JSON.stringify(read))
}
const two = '{\n  // why a\n  "a": 1,\n  // why b\n  "b": 2 // beside b\n}'
show(two, ['a'], undefined)
show(two, ['b'], undefined)
show('{\n  "a": 1,\n}', ['a'], undefined)
show('{\n  "servers": {\n    "a": {},\n  },\n}', ['servers', 'a'], undefined)
show('{\n  "list": [\n    1,\n  ]\n}', ['list', 0], undefined)
show('{"a": 1, "a": 2}', ['a'], 3)
END
node probe.cjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
"{\n  \"b\": 2 // beside b\n}" {"b":2}
"{\n  // why a\n  \"a\": 1 // beside b\n}" {"a":1}
"{\n  ,\n}" cannot be read
"{\n  \"servers\": {\n    ,\n  },\n}" cannot be read
"{\n  \"list\": []\n}" {"list":[]}
"{\"a\": 3, \"a\": 2}" {"a":2}
END
echo "as stated: the comment of the next property goes along, and a last comma stays"
