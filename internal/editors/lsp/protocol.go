package lsp

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
)

// Message types, named as in the protocol's specification 3.17.

type position struct {
	Line      int `json:"line"`      // from 0
	Character int `json:"character"` // from 0, in code units of the negotiated encoding
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
	// For a LocationLink, which some servers send unasked.
	TargetURI       string `json:"targetUri,omitempty"`
	TargetSelection *span  `json:"targetSelectionRange,omitempty"`
}

type diagnostic struct {
	Range    span            `json:"range"`
	Severity int             `json:"severity"` // 1 error, 2 warning, 3 information, 4 hint; 0 counts as error
	Code     json.RawMessage `json:"code"`
	Message  string          `json:"message"`
}

type published struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type workspaceEdit struct {
	Changes         map[string][]textEdit `json:"changes"`
	DocumentChanges []documentChange      `json:"documentChanges"`
}

// documentChange is a TextDocumentEdit, or if Kind is set, a file creation, rename or deletion.
type documentChange struct {
	Kind         string `json:"kind"`
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Edits []textEdit `json:"edits"`
}

// symbol is a DocumentSymbol, a SymbolInformation or a WorkspaceSymbol.
type symbol struct {
	Name      string   `json:"name"`
	Kind      int      `json:"kind"`
	Container string   `json:"containerName"`
	Location  location `json:"location"`
	Range     span     `json:"range"`
	Selection *span    `json:"selectionRange"`
	Children  []symbol `json:"children"`
}

type initialized struct {
	Capabilities struct {
		PositionEncoding   string          `json:"positionEncoding"`
		DiagnosticProvider json.RawMessage `json:"diagnosticProvider"`

		ExecuteCommandProvider struct{ Commands []string } `json:"executeCommandProvider"`
	} `json:"capabilities"`
}

// object is an outgoing JSON object.
type object = map[string]any

func uriOf(path string) string {
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}).String()
}

// pathOf returns a file URI's path, or "" for any other URI.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") {
		return ""
	}
	path := u.Path
	if filepath.VolumeName(path[1:]) != "" { // /C:/src
		path = path[1:]
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// same normalizes a URI; servers escape differently (%3A for a colon).
func same(uri string) string {
	if path := pathOf(uri); path != "" {
		return uriOf(path)
	}
	return uri
}

// kindName returns a SymbolKind's name; kinds start at 1.
func kindName(kind int) string {
	kinds := strings.Fields("file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null member struct event operator type")
	if kind < 1 || kind > len(kinds) {
		return "symbol"
	}
	return kinds[kind-1]
}
