package lsp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

const maxRenamed = 500

// A Rewrite is a file with its new content.
type Rewrite struct {
	Path          string // absolute
	Before, After string
	Places        int
}

// Rename returns the files' new contents after renaming the symbol at a spot. It writes nothing.
func (s *Servers) Rename(ctx context.Context, at Spot, name string) (out []Rewrite, err error) {
	var edit workspaceEdit
	encoding := ""
	_, _ = s.Problems(ctx, at.Path) // a server that has judged the file has read its project
	err = s.ask(ctx, renameTime, at.Path, func(ctx context.Context, v *server, conn *jsonrpc2.Conn, text string) error {
		where, err := v.find(at, text)
		if err != nil {
			return err
		}
		where["newName"], encoding = name, v.encoding()
		return conn.Call(ctx, "textDocument/rename", where, &edit)
	})
	if err != nil {
		return nil, err
	}
	return rewrites(edit, encoding)
}

// rewrites applies a WorkspaceEdit. It refuses one that creates, moves or deletes files, which
// nobody asked for.
func rewrites(edit workspaceEdit, encoding string) (out []Rewrite, err error) {
	by := map[string][]textEdit{}
	for uri, edits := range edit.Changes {
		by[uri] = append(by[uri], edits...)
	}
	for _, c := range edit.DocumentChanges {
		if c.Kind != "" {
			return nil, fmt.Errorf("the server wants to %s a file, which a rename here does not do", c.Kind)
		}
		by[c.TextDocument.URI] = append(by[c.TextDocument.URI], c.Edits...)
	}
	if len(by) > maxRenamed {
		return nil, fmt.Errorf("%d files would change, at most %d are renamed in at once", len(by), maxRenamed)
	}
	for _, uri := range slices.Sorted(maps.Keys(by)) {
		path := pathOf(uri)
		if path == "" {
			return nil, fmt.Errorf("the server names %q, which is no file", uri)
		}
		before, err := readText(path)
		if err != nil {
			return nil, err
		}
		after, err := applied(before, by[uri], encoding)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if after != before {
			out = append(out, Rewrite{path, before, after, len(by[uri])})
		}
	}
	return out, nil
}

// applied applies edits, which by the protocol must not overlap.
func applied(text string, edits []textEdit, encoding string) (string, error) {
	type piece struct {
		from, to int
		text     string
	}
	var all []piece
	for _, e := range edits {
		p := piece{offset(text, e.Range.Start, encoding), offset(text, e.Range.End, encoding), e.NewText}
		if p.from > p.to {
			return "", errors.New("an edit of the server ends before it begins")
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b piece) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, p := range all {
		if p.from < at {
			return "", errors.New("edits of the server overlap")
		}
		b.WriteString(text[at:p.from])
		b.WriteString(p.text)
		at = p.to
	}
	b.WriteString(text[at:])
	return b.String(), nil
}
