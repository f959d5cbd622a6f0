package lsp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Handle handles a message from the server. It must not block: nothing else is read meanwhile.
func (v *server) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	if r.Method == "textDocument/publishDiagnostics" && r.Params != nil {
		var p published
		if json.Unmarshal(*r.Params, &p) == nil {
			v.publish(p)
		}
	}
	if r.Notif {
		return
	}
	go v.reply(ctx, conn, r) // a server that does not read would block everything
}

func (v *server) reply(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	switch r.Method {
	case "workspace/configuration": // one answer per requested item
		var p struct{ Items []struct{ Section string } }
		if r.Params != nil {
			_ = json.Unmarshal(*r.Params, &p) // empty on an error
		}
		v.mu.Lock()
		settings := v.start.settings
		v.mu.Unlock()
		answers := make([]any, len(p.Items))
		for i, item := range p.Items {
			answers[i] = settings[item.Section]
		}
		_ = conn.Reply(ctx, r.ID, answers)
	case "workspace/workspaceFolders":
		_ = conn.Reply(ctx, r.ID, []object{{"uri": uriOf(v.root), "name": v.lang.Name}})
	case "workspace/applyEdit": // a server must not change files
		_ = conn.Reply(ctx, r.ID, object{"applied": false, "failureReason": "adze makes edits of its own only"})
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest",
		"workspace/diagnostic/refresh", "workspace/semanticTokens/refresh", "workspace/inlayHint/refresh", "workspace/codeLens/refresh":
		_ = conn.Reply(ctx, r.ID, nil)
	default:
		_ = conn.ReplyWithError(ctx, r.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "adze does not answer " + r.Method})
	}
}

// Limits for a server's stored diagnostics.
const (
	maxFiles    = 5000
	maxProblems = 500 // per file
)

func (v *server) publish(p published) {
	v.mu.Lock()
	defer v.mu.Unlock()
	uri := same(p.URI)
	if _, known := v.results[uri]; !known && len(v.results) >= maxFiles || v.results == nil {
		return
	}
	if len(p.Diagnostics) > maxProblems {
		p.Diagnostics = p.Diagnostics[:maxProblems]
	}
	v.results[uri] = result{p.Version, v.problems(uri, p.Diagnostics), time.Now()}
	v.state.Wake()
}
