#!/usr/bin/env bash
# @modelcontextprotocol/inspector 2.12.0, mcp-inspector --cli: `--tool-arg NAME=VALUE` reads a value as JSON wherever it is
# JSON, also where the tool's schema says that the parameter is text. A tool cannot be given the text 1.10, true or [1].
#
# Expected: a text parameter gets the text that stands there; the command has the schema. Seen: "1.10", "true", "null" and
# "[1]" are sent as number, boolean, null and list, and the server refuses them; "1.9-rc" and "007" (no JSON) pass; for a
# parameter of any kind, the long number of an order loses its last digits. Quotes inside, '"1.10"', give the text.
#
# Who meets it: whoever tries an MCP server in a script before it is given to an assistant: versions, branch names that are
# a number, ids. The server looks broken.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error \
  @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/sdk@1.32.2 zod@4.6.7 >/dev/null
cat >server.mjs <<'END2'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const server = new McpServer({ name: 's', version: '1' })
const answer = async ({ v }) => ({ content: [{ type: 'text', text: `got ${typeof v} ${v}` }] })
server.registerTool('text', { inputSchema: { v: z.string() } }, answer)
server.registerTool('any', { inputSchema: { v: z.any() } }, answer)
await server.connect(new StdioServerTransport())
END2
fail() { echo "changed: $*"; exit 1; }
check() { # tool, value, what the server got or why it refused
  local said
  said=$(node_modules/.bin/mcp-inspector --cli node server.mjs --method tools/call --tool-name "$1" --tool-arg "v=$2" </dev/null 2>&1 |
    grep -oE 'got [a-z]+ [^"\\]*|expected string, received [a-z]+' | head -n 1) || true
  echo "$1 v=$2: $said"
  [ "$said" = "$3" ] || fail "$1 with $2"
}
check text 1.9-rc 'got string 1.9-rc'
check text 007 'got string 007'
check text 1.10 'expected string, received number'
check text true 'expected string, received boolean'
check text null 'expected string, received null'
check text '[1]' 'expected string, received array'
check text '"1.10"' 'got string 1.10'
check any 12345678901234567890 'got number 12345678901234567000'
echo "as stated: a text that is JSON does not reach a parameter that wants text"
