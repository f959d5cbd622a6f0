#!/usr/bin/env bash
# minijinja-js 2.11.0: objects that a template is given have their keys in the order of the alphabet, in loops and in tojson.
#
# Expected: the order of the object, as with jinja2 3.1.6 and @huggingface/jinja 0.5.11, run beside it: chat templates write
# the tools of a request by tojson, and a model was trained on name, description, parameters. Seen: "description" before
# "name"; the properties of a schema and the arguments of a call in an order that nobody wrote. A Map is written as an empty
# object.
#
# Who meets it: makers of assistants in JavaScript that fill a local model's template by this package: the prompt differs from
# that of vllm or transformers for the same request, and no cache that was filled by the one is hit by the other.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error minijinja-js@2.11.0 @huggingface/jinja@0.5.11 >/dev/null
# The same version is taken where it is there already, so that the script also runs without Python's registry.
python3 -c 'import jinja2, sys; sys.exit(jinja2.__version__ != "3.1.6")' 2>/dev/null ||
  python3 -m pip install --quiet --disable-pip-version-check --target "$dir/python" jinja2==3.1.6
cat >probe.mjs <<'END'
import { execFileSync } from 'node:child_process'
import { Template } from '@huggingface/jinja'
import { Environment } from 'minijinja-js'

const tool = { type: 'function', function: { name: 'read', description: 'd', parameters: { type: 'object', properties: { path: {}, from: {} } } } }
const python = `
import json, sys
from jinja2.sandbox import ImmutableSandboxedEnvironment
env = ImmutableSandboxedEnvironment()
env.policies['json.dumps_kwargs'] = {'sort_keys': False}
print(env.from_string(sys.argv[1]).render(json.loads(sys.argv[2])))`
for (const template of ['{{ tool|tojson }}', '{% for key in tool.function %}{{ key }} {% endfor %}']) {
  console.log(template)
  console.log('  jinja2 ' + execFileSync('python3', ['-c', python, template, JSON.stringify({ tool })]).toString().trimEnd())
  console.log('  @huggingface/jinja ' + new Template(template).render({ tool }))
  console.log('  minijinja-js ' + new Environment().renderStr(template, { tool }))
}
console.log('a Map: ' + new Environment().renderStr('{{ tool|tojson }}', { tool: new Map([['name', 'read']]) }))
END
PYTHONPATH="$dir/python" node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
{{ tool|tojson }}
  jinja2 {"type": "function", "function": {"name": "read", "description": "d", "parameters": {"type": "object", "properties": {"path": {}, "from": {}}}}}
  @huggingface/jinja {"type": "function", "function": {"name": "read", "description": "d", "parameters": {"type": "object", "properties": {"path": {}, "from": {}}}}}
  minijinja-js {"function":{"description":"d","name":"read","parameters":{"properties":{"from":{},"path":{}},"type":"object"}},"type":"function"}
{% for key in tool.function %}{{ key }} {% endfor %}
  jinja2 name description parameters
  @huggingface/jinja name description parameters 
  minijinja-js description name parameters 
a Map: {}
END
echo "as stated: keys stand in the order of the alphabet"
