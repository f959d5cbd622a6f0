#!/usr/bin/env bash
# zod 4.6.7: z.fromJSONSchema leaves demands of a schema out without a word: "required" of a name that "properties" does not
# have, "anyOf" beside "properties", what stands beside "$ref", and every keyword of a schema without "type".
#
# Expected: the same answer as ajv 8.20.0, run beside it, or an error as it gives for what it cannot read ("not", "if" and
# "dependentRequired" throw). Seen: for each of them a value that the schema refuses is taken. The other way round, 1e20 is an
# integer for ajv, and none for zod.
#
# Who meets it: clients of MCP in TypeScript that make a checker of a tool's schema by this function: a tool whose arguments
# are "one of path and url" is called with neither, and the model never hears why.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error zod@4.6.7 ajv@8.20.0 >/dev/null
cat >probe.mjs <<'END'
import Ajv from 'ajv/dist/2020.js'
import { z } from 'zod'

const show = (name, schema, value) => {
  let one
  try {
    one = z.fromJSONSchema(schema).safeParse(value).success
  } catch {
    one = 'throws'
  }
  console.log(`${name}: ajv ${new Ajv({ strict: false }).validate(schema, value)}, zod ${one}`)
}
const text = { type: 'string' }
show('required, with properties', { type: 'object', properties: { a: text }, required: ['a'] }, {})
show('required alone', { type: 'object', required: ['a'] }, {})
show('anyOf beside properties', { type: 'object', properties: { a: text, b: text }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }, {})
show('beside $ref', { $defs: { t: text }, $ref: '#/$defs/t', minLength: 3 }, 'a')
show('properties without type', { properties: { a: text }, required: ['a'] }, {})
show('minLength without type', { minLength: 3 }, 'a')
show('enum beside type', { type: 'string', enum: ['a', 1] }, 1)
show('an integer of 21 digits', { type: 'integer' }, 1e20)
show('not', { not: text }, 'a')
show('if', { if: text, then: { minLength: 3 } }, 'a')
show('dependentRequired', { type: 'object', dependentRequired: { a: ['b'] } }, { a: 1 })
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
required, with properties: ajv false, zod false
required alone: ajv false, zod true
anyOf beside properties: ajv false, zod true
beside $ref: ajv false, zod true
properties without type: ajv false, zod true
minLength without type: ajv false, zod true
enum beside type: ajv false, zod true
an integer of 21 digits: ajv true, zod false
not: ajv false, zod throws
if: ajv false, zod throws
dependentRequired: ajv false, zod throws
END
echo "as stated: what the schema demands is not asked for"
