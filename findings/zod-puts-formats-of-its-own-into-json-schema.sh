#!/usr/bin/env bash
# zod 4.6.7: z.toJSONSchema writes startsWith, endsWith, includes and lowercase not only as a pattern, but also as a
# "format" with a name that JSON Schema does not have ("starts_with"), at which ajv 8.20.0 throws.
#
# Expected: a pattern alone, as for regex beside it in the same output without a format. Seen: {"format":"starts_with",
# "pattern":"^v.*"}; ajv, strict as it comes and with ajv-formats 3.0.1, refuses the whole schema: unknown format.
#
# Who meets it: tools whose schema is made by zod and is checked by another's validator: assistants that check a tool's
# schema or a --output-schema by ajv, servers of models that allow a fixed list of formats.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error zod@4.6.7 ajv@8.20.0 ajv-formats@3.0.1 >/dev/null
cat >probe.mjs <<'END2'
import { z } from 'zod'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

const checks = {
  regex: z.string().regex(/^v/), email: z.email(),
  startsWith: z.string().startsWith('v'), endsWith: z.string().endsWith('v'), includes: z.string().includes('v'), lowercase: z.string().lowercase(),
}
for (const [name, schema] of Object.entries(checks)) {
  const made = z.toJSONSchema(z.object({ tag: schema }))
  const ajv = formats.default(new Ajv2020())
  let said = 'ok'
  try { ajv.compile(made) } catch (e) { said = e.message.split(' ignored')[0] }
  console.log(`${name}: format ${made.properties.tag.format}, ajv ${said}`)
}
END2
node probe.mjs | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'regex: format undefined, ajv ok' out || fail "regex"
grep -qx 'email: format email, ajv ok' out || fail "email"
for pair in startsWith:starts_with endsWith:ends_with includes:includes lowercase:lowercase; do
  grep -qx "${pair%:*}: format ${pair#*:}, ajv unknown format \"${pair#*:}\"" out || fail "${pair%:*}"
done
echo "as stated: plain checks of a text become formats that only zod knows"
