#!/usr/bin/env bash
# modelcontextprotocol/go-sdk v1.8.0 with google/jsonschema-go v0.4.3: a typed tool whose result holds a nil map fails after
# it ran, and the caller gets an error of the protocol in place of a result. A nil slice in the same place is fine.
#
# Expected: both are "null" in JSON, so both pass, or both fail. Seen: the schema that is made from the Go type allows null
# for a slice (type ["null","array"]) and not for a map (type "object"). The call ends as JSON-RPC error, not as a result
# with isError, so a client takes it for a broken server and may call again what already had its effect.
#
# Who meets it: authors of MCP servers in Go whose result has an optional map (labels, counts by name), as soon as it is
# empty; assistants that try failed calls of a server again.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type list struct {
	Names []string `json:"names"`
}

type counts struct {
	ByName map[string]int `json:"by_name"`
}

var ran int

func answer[Out any](context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, Out, error) {
	ran++
	var out Out
	return nil, out, nil
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "list"}, answer[list])
	mcp.AddTool(server, &mcp.Tool{Name: "counts"}, answer[counts])
	ours, theirs := mcp.NewInMemoryTransports()
	ctx := context.Background()
	if _, err := server.Connect(ctx, theirs, nil); err != nil {
		panic(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(ctx, ours, nil)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"list", "counts"} {
		before := ran
		r, err := client.CallTool(ctx, &mcp.CallToolParams{Name: name})
		fmt.Printf("%s: ran %d, result %t, error %v\n", name, ran-before, r != nil, err)
	}
}
END
go mod init probe >/dev/null 2>&1
go get github.com/modelcontextprotocol/go-sdk/mcp@v1.8.0 github.com/google/jsonschema-go@v0.4.3 >/dev/null 2>&1
go run . | tee out
grep -q '^list: ran 1, result true, error <nil>$' out || { echo "changed: a nil slice"; exit 1; }
grep -q '^counts: ran 1, result false, error .*has type "null", want "object"' out || { echo "changed: a nil map"; exit 1; }
echo "as stated: the tool ran, and its nil map became an error of the protocol"
