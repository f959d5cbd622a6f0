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

// Limits of a catalogue. It notes if something was left out.
const (
	maxPages = 100
	maxTools = 2000
	maxBytes = 8 << 20 // all definitions of a server
)

// read reads the tools page by page until the end or a limit.
func (c *Catalogue) read(ctx context.Context, s *sdk.ClientSession, conf Server) error {
	size, cursors := 0, map[string]bool{}
	params := &sdk.ListToolsParams{}
	for page := 1; c.MissingReason == ""; page++ {
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
				continue // it could not be stored either
			}
			switch size += len(raw); {
			case size > maxBytes:
				c.MissingReason = fmt.Sprintf("its tools take more than %d MiB", maxBytes>>20)
				return nil
			case len(c.Tools) == maxTools:
				c.MissingReason = fmt.Sprintf("it has more than %d tools", maxTools)
				return nil
			}
			c.add(t)
		}
		switch next := got.NextCursor; {
		case next == "":
			return nil
		case cursors[next]:
			c.MissingReason = "its list begins again and again"
		case page == maxPages:
			c.MissingReason = fmt.Sprintf("its list has more than %d pages", maxPages)
		}
		cursors[got.NextCursor] = true
		params.Cursor = got.NextCursor
	}
	return nil
}

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
