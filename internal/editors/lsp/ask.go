package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"adze/internal/sandbox/child"
)

// ErrNone means that a file has no language server.
var ErrNone = errors.New("no language server is there for this file")

// A Place is a line in a file.
type Place struct {
	Path string
	Line int    // from 1
	Text string // the line, trimmed
}

// A Symbol is a named declaration.
type Symbol struct {
	Name, Kind string
	Container  string // container; may be ""
	Depth      int    // in the file's tree
	Place
}

// A Spot is a name in a file: the symbol Name on the line, or its first name if Name is "".
type Spot struct {
	Path string // absolute
	Line int    // from 1
	Name string
}

// NotThereError means that the line does not contain the name.
type NotThereError struct{ Spot }

// Error names the line and the name.
func (e *NotThereError) Error() string {
	return fmt.Sprintf("line %d of %s has no name %q", e.Line, filepath.Base(e.Path), e.Name)
}

// ask sends one request about a file after its server is ready and has the current text.
func (s *Servers) ask(ctx context.Context, limit time.Duration, path string, do func(ctx context.Context, v *server, conn *jsonrpc2.Conn, text string) error) error {
	v := s.server(path)
	if v == nil {
		return ErrNone
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := v.await(ctx)
	if err == nil {
		err = v.caughtUp(ctx)
	}
	if err == nil {
		err = v.with(ctx, func(conn *jsonrpc2.Conn) error {
			if err := v.refresh(ctx, conn); err != nil {
				return err
			}
			text, err := readText(path)
			if err != nil {
				return err
			}
			if _, err := v.present(ctx, conn, path, text); err != nil {
				return err
			}
			return do(ctx, v, conn, text)
		})
	}
	if err == nil || errors.As(err, new(*NotThereError)) {
		return err
	}
	if errors.Is(err, child.ErrNotReady) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s has not answered within %s; ask again later, or use grep", v.lang.Name, limit)
	}
	return fmt.Errorf("%s: %s", v.lang.Name, v.masked(err.Error()))
}

// Definition returns the symbol's definitions.
func (s *Servers) Definition(ctx context.Context, at Spot) ([]Place, error) {
	return s.locate(ctx, at, "textDocument/definition", nil)
}

// References returns the uses and the definition of the symbol at a spot.
func (s *Servers) References(ctx context.Context, at Spot) ([]Place, error) {
	_, _ = s.Problems(ctx, at.Path) // a server that has judged the file has read its project
	return s.locate(ctx, at, "textDocument/references", object{"includeDeclaration": true})
}

// locate sends a request that returns locations.
func (s *Servers) locate(ctx context.Context, at Spot, method string, about object) (places []Place, err error) {
	err = s.ask(ctx, askTime, at.Path, func(ctx context.Context, v *server, conn *jsonrpc2.Conn, text string) error {
		where, err := v.find(at, text)
		if err != nil {
			return err
		}
		if about != nil {
			where["context"] = about
		}
		var raw json.RawMessage
		if err := conn.Call(ctx, method, where, &raw); err != nil {
			return err
		}
		places = v.places(locations(raw))
		return nil
	})
	return places, err
}

// Outline returns a file's symbols in their order.
func (s *Servers) Outline(ctx context.Context, path string) (out []Symbol, err error) {
	err = s.ask(ctx, askTime, path, func(ctx context.Context, v *server, conn *jsonrpc2.Conn, text string) error {
		var all []symbol
		if err := conn.Call(ctx, "textDocument/documentSymbol", object{"textDocument": object{"uri": uriOf(path)}}, &all); err != nil {
			return err
		}
		out = outline(nil, all, path, texts{path: text}, 0)
		return nil
	})
	return out, err
}

func outline(out []Symbol, all []symbol, path string, texts texts, depth int) []Symbol {
	for _, s := range all {
		at := s.Range
		if s.Selection != nil {
			at = *s.Selection
		}
		if s.Location.URI != "" {
			at = s.Location.Range
		}
		out = append(out, Symbol{Name: s.Name, Kind: kindName(s.Kind), Container: s.Container, Depth: depth, Place: texts.place(path, at.Start.Line)})
		out = outline(out, s.Children, path, texts, depth+1)
	}
	return out
}

// Find returns the project's symbols with names like word. beside is a file of the project.
func (s *Servers) Find(ctx context.Context, beside, word string) (out []Symbol, err error) {
	err = s.ask(ctx, askTime, beside, func(ctx context.Context, v *server, conn *jsonrpc2.Conn, _ string) error {
		var all []symbol
		if err := conn.Call(ctx, "workspace/symbol", object{"query": word}, &all); err != nil {
			return err
		}
		texts := texts{}
		for _, s := range all {
			path := pathOf(s.Location.URI)
			if path == "" {
				continue
			}
			out = append(out, Symbol{Name: s.Name, Kind: kindName(s.Kind), Container: s.Container, Place: texts.place(path, s.Location.Range.Start.Line)})
		}
		return nil
	})
	return out, err
}

// Problems returns all problems in a file's current text.
func (s *Servers) Problems(ctx context.Context, path string) (out []Problem, err error) {
	var v *server
	version := 0
	err = s.ask(ctx, askTime, path, func(ctx context.Context, on *server, conn *jsonrpc2.Conn, text string) (err error) {
		v = on
		if version, err = v.present(ctx, conn, path, text); err != nil || !v.pulls() {
			return err
		}
		items, err := v.pull(ctx, conn, path)
		if err == nil {
			v.publish(published{uriOf(path), &version, items})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := v.answered(ctx, uriOf(path), version); err != nil {
		return nil, fmt.Errorf("%s: %s", v.lang.Name, reason(err, askTime))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	out = slices.Clone(v.results[uriOf(path)].items)
	slices.SortStableFunc(out, func(a, b Problem) int { return a.Line - b.Line })
	return out, nil
}

// find converts a spot to protocol parameters.
func (v *server) find(at Spot, text string) (object, error) {
	line := lineAt(text, at.Line-1)
	i := nameAt(line, at.Name)
	if at.Line < 1 || i < 0 {
		return nil, &NotThereError{at}
	}
	return object{"textDocument": object{"uri": uriOf(at.Path)}, "position": position{at.Line - 1, column(line, i, v.encoding())}}, nil
}

// nameAt returns the index at which a name, or the line's first name, is a whole word, or -1. In a
// dotted name only the last part counts.
func nameAt(line, name string) int {
	if name == "" {
		return strings.IndexFunc(line, func(r rune) bool { return r == '_' || unicode.IsLetter(r) })
	}
	for from := 0; ; {
		i := strings.Index(line[from:], name)
		if i < 0 {
			break
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(line[:i])
		after, _ := utf8.DecodeRuneInString(line[i+len(name):])
		if !(inName(before) && inName(first(name))) && !(inName(after) && inName(last(name))) {
			return i + max(strings.LastIndexByte(name, '.'), strings.LastIndexByte(name, ':')) + 1
		}
		from = i + 1
	}
	if dot := strings.LastIndexAny(name, ".:"); dot >= 0 && dot < len(name)-1 {
		return nameAt(line, name[dot+1:])
	}
	return -1
}

func first(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }
func last(s string) rune  { r, _ := utf8.DecodeLastRuneInString(s); return r }

func inName(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// locations decodes a Location, a list, or LocationLinks.
func locations(raw json.RawMessage) []location {
	var many []location
	if json.Unmarshal(raw, &many) != nil {
		var one location
		if json.Unmarshal(raw, &one) != nil || one.URI == "" {
			return nil
		}
		many = []location{one}
	}
	for i, l := range many {
		if l.TargetURI != "" {
			many[i].URI = l.TargetURI
			if l.TargetSelection != nil {
				many[i].Range = *l.TargetSelection
			}
		}
	}
	return many
}

func (v *server) places(all []location) (out []Place) {
	texts := texts{}
	for _, l := range all {
		if path := pathOf(l.URI); path != "" {
			out = append(out, texts.place(path, l.Range.Start.Line))
		}
	}
	slices.SortStableFunc(out, func(a, b Place) int { return cmp.Or(strings.Compare(a.Path, b.Path), a.Line-b.Line) })
	return slices.Compact(out)
}

type texts map[string]string

// place returns a line, counted from 0.
func (t texts) place(path string, line int) Place {
	text, read := t[path]
	if !read {
		text, _ = readText(path) // on an error the place has no text
		t[path] = text
	}
	return Place{path, line + 1, short(strings.TrimSpace(lineAt(text, line)))}
}
