#!/usr/bin/env bash
# zod-to-json-schema 3.25.2 with zod 4.6.7: every schema becomes an empty one, which allows everything. The package names zod
# 4 among the versions that it goes with, and gives no error.
#
# Expected: the schema, as with "zod/v3" of the same package; or an error, or a warning at the installation. Seen: {"$schema":
# …} alone for an object with a required text; npm installs the two side by side, since the package asks for zod "^3.25.28 ||
# ^4". z.toJSONSchema of zod makes the schema.
#
# Who meets it: servers of MCP and makers of tools that were written for zod 3 and moved to 4: tests of types pass, the tools
# are listed, and the model is told of no parameter, so that it calls them without one.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error zod-to-json-schema@3.25.2 zod@4.6.7 >/dev/null
cat >probe.mjs <<'END'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { z as old } from 'zod/v3'
import { zodToJsonSchema } from 'zod-to-json-schema'

const { peerDependencies } = JSON.parse(readFileSync('node_modules/zod-to-json-schema/package.json', 'utf8'))
console.log('asks for zod', peerDependencies.zod)
console.log('zod 4', JSON.stringify(zodToJsonSchema(z.object({ path: z.string() }))))
console.log('zod 3', JSON.stringify(zodToJsonSchema(old.object({ path: old.string() }))))
console.log('zod 4 itself', JSON.stringify(z.toJSONSchema(z.object({ path: z.string() }))))
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
asks for zod ^3.25.28 || ^4
zod 4 {"$schema":"http://json-schema.org/draft-07/schema#"}
zod 3 {"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}
zod 4 itself {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}
END
echo "as stated: the schema is empty, and nothing is said"
