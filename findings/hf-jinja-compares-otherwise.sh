#!/usr/bin/env bash
# @huggingface/jinja 0.5.11 beside jinja2 3.1.6: "==" of two equal lists or of two equal tables is false, "!=" is true, and a
# number equals a text of its digits.
#
# Expected: as in jinja2, for which chat templates are written. Seen: no error; "tools == []" is false for an empty list, so
# that a template which writes its section of tools where tools != [] writes it without a tool; '1' == 1 is true. "not
# tools" and "tools|length == 0" come out alike in both.
#
# Who meets it: makers of assistants in JavaScript that fill a local model's template with tools: [] (as their request has
# it), and then wonder at calls of tools that were never offered.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @huggingface/jinja@0.5.11 >/dev/null
# The same version is taken where it is there already, so that the script also runs without Python's registry.
python3 -c 'import jinja2, sys; sys.exit(jinja2.__version__ != "3.1.6")' 2>/dev/null ||
  python3 -m pip install --quiet --disable-pip-version-check --target "$dir/python" jinja2==3.1.6
cat >probe.mjs <<'END2'
import { Template } from '@huggingface/jinja'
const [template, context] = process.argv.slice(2)
console.log(new Template(template).render(JSON.parse(context)))
END2
cat >probe.py <<'END2'
import json, sys
from jinja2.sandbox import ImmutableSandboxedEnvironment
print(ImmutableSandboxedEnvironment().from_string(sys.argv[1]).render(json.loads(sys.argv[2])))
END2
fail() { echo "changed: $*"; exit 1; }
check() { # condition, what jinja2 says, what the package says
  local template one other
  template="{% if $1 %}yes{% else %}no{% endif %}"
  one=$(PYTHONPATH="$dir/python" python3 probe.py "$template" '{"tools":[],"list":[1,2],"table":{"a":1}}')
  other=$(node probe.mjs "$template" '{"tools":[],"list":[1,2],"table":{"a":1}}')
  echo "$1: jinja2 $one, @huggingface/jinja $other"
  [ "$one" = "$2" ] || fail "jinja2"
  [ "$other" = "$3" ] || fail "@huggingface/jinja"
}
check 'not tools' yes yes
check 'tools|length == 0' yes yes
check 'tools == []' yes no
check 'tools != []' no yes
check 'list == [1, 2]' yes no
check "table == {'a': 1}" yes no
check "'1' == 1" no yes
echo "as stated: equal lists are unequal there, and a text equals a number"
