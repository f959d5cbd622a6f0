#!/usr/bin/env bash
# modelcontextprotocol/go-sdk v1.8.0 and mark3labs/mcp-go v1.2.1: a tool whose argument is an int gets 9007199254740992 where
# the client sent 9007199254740993. RequireInt of mcp-go also gives 2 for 2.9 and the least int there is for 1e30.
#
# Expected: the number as it was sent, which an int of Go holds and encoding/json reads, or an error. RequireInt says that it
# returns an error for what is no int. Seen: arguments pass through float64 before the tool's type is filled, without an
# error; go-sdk refuses 2.9 and 1e30 by the schema.
#
# Who meets it: authors of MCP servers whose tools take ids of 64 bits or amounts (ids of posts, of rows, of messages):
# another record than the one that the model named is read or deleted, and the answer says that all is well.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"context"
	"encoding/json"
	"fmt"

	theirs "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type args struct {
	ID int `json:"id"`
}

func main() {
	ctx := context.Background()
	one := server.NewMCPServer("s", "1")
	one.AddTool(theirs.NewTool("f", theirs.WithNumber("id", theirs.Required())), func(_ context.Context, r theirs.CallToolRequest) (*theirs.CallToolResult, error) {
		id, err := r.RequireInt("id")
		if err != nil {
			return theirs.NewToolResultError("refused"), nil
		}
		return theirs.NewToolResultText(fmt.Sprint(id)), nil
	})
	two := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	mcp.AddTool(two, &mcp.Tool{Name: "f"}, func(_ context.Context, _ *mcp.CallToolRequest, in args) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(in.ID)}}}, nil, nil
	})
	here, there := mcp.NewInMemoryTransports()
	if _, err := two.Connect(ctx, there, nil); err != nil {
		panic(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		panic(err)
	}
	for _, number := range []string{"2", "2.9", "9007199254740993", "1e30"} {
		message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{"id":` + number + `}}}`
		raw, _ := json.Marshal(one.HandleMessage(ctx, json.RawMessage(message)))
		var answer struct {
			Result struct{ Content []struct{ Text string } }
		}
		_ = json.Unmarshal(raw, &answer)
		sdk := "refused"
		if r, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "f", Arguments: json.RawMessage(`{"id":` + number + `}`)}); err == nil && !r.IsError {
			sdk = r.Content[0].(*mcp.TextContent).Text
		}
		fmt.Printf("%s: mcp-go %s, go-sdk %s\n", number, answer.Result.Content[0].Text, sdk)
	}
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get github.com/mark3labs/mcp-go@v1.2.1 github.com/modelcontextprotocol/go-sdk@v1.8.0 >/dev/null 2>&1
go run . | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx '2: mcp-go 2, go-sdk 2' out || fail "an int"
grep -qx '2.9: mcp-go 2, go-sdk refused' out || fail "2.9"
grep -qx '9007199254740993: mcp-go 9007199254740992, go-sdk 9007199254740992' out || fail "an id of 64 bits"
grep -qx '1e30: mcp-go -9223372036854775808, go-sdk refused' out || fail "1e30"
echo "as stated: the tool gets another number than the client sent"
