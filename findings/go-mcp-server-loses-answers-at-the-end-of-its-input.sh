#!/usr/bin/env bash
# github.com/modelcontextprotocol/go-sdk 1.8.0: a stdio server loses the answers to calls that run when its input ends, and answers
# the request 9007199254740993 as 9007199254740992.
#
# Expected: what was asked before the end of the input is answered, as by @modelcontextprotocol/sdk 1.32.2, and an id comes back
# as it was sent. Seen: of two calls in a pipe none is answered; with the input held open both are, one under another id.
#
# Who meets it: whoever tries a server with printf in a pipe, and authors of small clients in languages with 64-bit ids.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'END2'
module probe

go 1.26

require github.com/modelcontextprotocol/go-sdk v1.8.0
END2
cat >main.go <<'END2'
package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "t"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ran"}}}, nil, nil
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}
END2
GOFLAGS=-mod=mod go mod tidy >/dev/null 2>&1
go build -o server .
calls() {
	echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
	echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
	echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{}}}'
	echo '{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"t","arguments":{}}}'
}
fail() { echo "changed: $*"; exit 1; }
calls | timeout 10 ./server >piped || true
{ calls; sleep 2; } | timeout 10 ./server >held || true
echo "in a pipe: $(grep -c '"ran"' piped || true) answers; with the input open: $(grep -c '"ran"' held || true)"
[ "$(grep -c '"ran"' piped || true)" = 0 ] || fail "calls in a pipe"
[ "$(grep -c '"ran"' held || true)" = 2 ] || fail "calls with the input open"
grep -q '"id":9007199254740992' held || fail "the long id"
echo "as stated: answers are lost at the end of the input, and a long id comes back as another one"
