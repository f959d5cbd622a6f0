#!/usr/bin/env bash
# @huggingface/jinja 0.5.11 beside jinja2 3.1.6: strip, lstrip and rstrip of a text ignore their argument. Chat templates
# that take line ends away, x.lstrip('\n'), lose the indentation of the first line as well.
#
# Expected: as in jinja2, for which the templates are written; or an error, as for x.find('a'), which is not there. Seen: no
# error, every white space is taken from that side, and "-- ab --".strip('-') takes nothing.
#
# Who meets it: assistants in JavaScript that fill a local model's own template or count its tokens with it. Templates of
# reasoning models cut the thoughts from earlier answers with split('</think>')[-1].lstrip('\n'); an answer that begins with
# an indented line of code comes back to the model without its indentation, another prompt than the one that was trained.
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
console.log(JSON.stringify(new Template(template).render(JSON.parse(context))))
END2
cat >probe.py <<'END2'
import json, sys
from jinja2.sandbox import ImmutableSandboxedEnvironment
print(json.dumps(ImmutableSandboxedEnvironment().from_string(sys.argv[1]).render(json.loads(sys.argv[2]))))
END2
fail() { echo "changed: $*"; exit 1; }
check() { # template, text, what jinja2 gives, what the package gives
  local context one other
  context=$(printf '{"x":%s}' "$2")
  one=$(PYTHONPATH="$dir/python" python3 probe.py "$1" "$context")
  other=$(node probe.mjs "$1" "$context")
  echo "$1 of $2: jinja2 $one, @huggingface/jinja $other"
  [ "$one" = "$3" ] || fail "jinja2"
  [ "$other" = "$4" ] || fail "@huggingface/jinja"
}
check '{{ x.strip() }}' '" a "' '"a"' '"a"'
check "{{ x.split('</think>')[-1].lstrip('\\n') }}" '"<think>t</think>\n\n    if a:\n        b()"' '"    if a:\n        b()"' '"if a:\n        b()"'
check "{{ x.rstrip('\\n') }}" '"a  \n"' '"a  "' '"a"'
check "{{ x.strip('-') }}" '"-- ab --"' '" ab "' '"-- ab --"'
echo "as stated: the characters to take are ignored, and white space is taken in their place"
