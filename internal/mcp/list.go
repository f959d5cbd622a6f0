package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of a catalogue. What is beyond them is left out, and told.
const (
	maxPages = 100
	maxTools = 2000
	maxBytes = 8 << 20 // of all definitions of a server
)

// Listing is what a server says of itself and its tools. It is the server's own word: nothing is
// cleaned.
type Listing struct {
	Version      string      `json:"version"` // of the protocol
	Title        string      `json:"title,omitempty"`
	Instructions string      `json:"instructions,omitempty"`
	Tools        []*sdk.Tool `json:"tools,omitempty"`
	More         string      `json:"more,omitempty"` // why there are not all of them; if empty, they are
	Prompts      bool        `json:"prompts,omitempty"`
	Resources    bool        `json:"resources,omitempty"`
}

// ask asks the server for its tools, if it says that it has any.
func (v *server) ask(ctx context.Context, s *sdk.ClientSession) (Listing, error) {
	before := v.cuts.Load()
	l, err := list(ctx, s, v.conf)
	if v.cuts.Load() > before && l.More == "" {
		l.More = fmt.Sprintf("its list is longer than %d MiB", maxFrame>>20)
	}
	return l, err
}

// list asks for what a server says.
func list(ctx context.Context, s *sdk.ClientSession, conf Server) (Listing, error) {
	hello := s.InitializeResult()
	l := Listing{Version: hello.ProtocolVersion, Instructions: hello.Instructions}
	if hello.ServerInfo != nil {
		l.Title = hello.ServerInfo.Name
		if v := hello.ServerInfo.Version; v != "" {
			l.Title += " " + v
		}
	}
	if hello.Capabilities == nil {
		return l, nil
	}
	l.Prompts, l.Resources = hello.Capabilities.Prompts != nil, hello.Capabilities.Resources != nil
	if hello.Capabilities.Tools == nil {
		return l, nil
	}
	return l, l.pages(ctx, s, conf)
}

// pages reads the catalogue page by page, until it ends or a bound is reached.
func (l *Listing) pages(ctx context.Context, s *sdk.ClientSession, conf Server) error {
	size, cursors := 0, map[string]bool{}
	params := &sdk.ListToolsParams{}
	for page := 1; ; page++ {
		got, err := s.ListTools(ctx, params)
		if err != nil {
			return err
		}
		for _, t := range got.Tools {
			if t == nil || !conf.wants(t.Name) {
				continue
			}
			raw, err := json.Marshal(t)
			if err != nil {
				continue // it could not be kept either
			}
			if size += len(raw); size > maxBytes {
				l.More = fmt.Sprintf("its tools take more than %d MiB", maxBytes>>20)
				return nil
			}
			if len(l.Tools) == maxTools {
				l.More = fmt.Sprintf("it has more than %d tools", maxTools)
				return nil
			}
			l.Tools = append(l.Tools, t)
		}
		switch {
		case got.NextCursor == "":
			return nil
		case cursors[got.NextCursor]:
			l.More = "its list begins again and again"
			return nil
		case page == maxPages:
			l.More = fmt.Sprintf("its list has more than %d pages", maxPages)
			return nil
		}
		cursors[got.NextCursor] = true
		params.Cursor = got.NextCursor
	}
}

// wants reports whether the user lets a tool in.
func (s Server) wants(name string) bool {
	if len(s.Tools) == 0 {
		return true
	}
	fits := func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	}
	in := !slices.ContainsFunc(s.Tools, func(p string) bool { return !strings.HasPrefix(p, "!") })
	for _, p := range s.Tools {
		if rest, not := strings.CutPrefix(p, "!"); not {
			if fits(rest) {
				return false
			}
		} else if fits(p) {
			in = true
		}
	}
	return in
}
