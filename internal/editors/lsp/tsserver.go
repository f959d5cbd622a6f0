package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/sourcegraph/jsonrpc2"
)

// typescript-language-server publishes diagnostics in pieces, without a version, after half a
// second, and not at all if there are none before and after. Its tsserver, however, answers
// requests at once for the last text it got.

// tsRequest is the command that forwards requests to tsserver.
const tsRequest = "typescript.tsserverRequest"

func (v *server) asksTS() bool {
	return slices.Contains(v.caps.Capabilities.ExecuteCommandProvider.Commands, tsRequest)
}

// tsProblem is a tsserver diagnostic. Lines and columns count from 1, in UTF-16.
type tsProblem struct {
	Message  string          `json:"message"`
	Category string          `json:"category"`
	Code     json.RawMessage `json:"code"`
	Start    tsPlace         `json:"startLocation"`
	End      tsPlace         `json:"endLocation"`
}

type tsPlace struct{ Line, Offset int }

func (p tsPlace) position() position { return position{max(p.Line-1, 0), max(p.Offset-1, 0)} }

func pullTS(ctx context.Context, conn *jsonrpc2.Conn, path string) (out []diagnostic, err error) {
	for _, kind := range []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync"} {
		var answer struct {
			Success bool
			Body    []tsProblem
		}
		request := []any{kind, object{"file": path, "includeLinePosition": true}}
		if err := conn.Call(ctx, "workspace/executeCommand", object{"command": tsRequest, "arguments": request}, &answer); err != nil {
			return nil, err
		}
		if !answer.Success {
			return nil, errors.New("tsserver does not say what is wrong")
		}
		for _, p := range answer.Body {
			severity := map[string]int{"error": 1, "warning": 2, "message": 3, "suggestion": 4}[p.Category]
			out = append(out, diagnostic{Range: span{p.Start.position(), p.End.position()}, Severity: severity, Code: p.Code, Message: p.Message})
		}
	}
	return out, nil
}
