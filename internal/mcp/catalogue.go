package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/osfile/atomicfile"

	"adze/tool"
)

// Catalogue is what the user lets a server say of itself and its tools: what it said when it was
// first there, and what they agreed to since. It is kept on the disk, so that a run knows the tools
// without starting anything.
type Catalogue struct {
	Version      int    `json:"version"`
	Protocol     string `json:"protocol"`
	Title        string `json:"title,omitempty"`
	Instructions string `json:"instructions,omitempty"`
	More         string `json:"more,omitempty"` // why there are not all tools
	Prompts      bool   `json:"prompts,omitempty"`
	Resources    bool   `json:"resources,omitempty"`
	Tools        []Tool `json:"tools"`

	said string // its instructions as they came, which pins cover
}

// catalogueVersion changes when older files mean something else.
const catalogueVersion = 1

// maxInstructions bounds what a server says of itself, in bytes.
const maxInstructions = 2 << 10

// newCatalogue cleans what a server says of itself; tools are added.
func newCatalogue(hello *sdk.InitializeResult) *Catalogue {
	c := &Catalogue{Version: catalogueVersion, Protocol: hello.ProtocolVersion, Instructions: Clean(hello.Instructions, maxInstructions), Tools: []Tool{}, said: hello.Instructions}
	if hello.ServerInfo != nil {
		c.Title = Line(hello.ServerInfo.Name+" "+hello.ServerInfo.Version, 100)
	}
	if can := hello.Capabilities; can != nil {
		c.Prompts, c.Resources = can.Prompts != nil, can.Resources != nil
	}
	return c
}

// add cleans a tool and adds it.
func (c *Catalogue) add(t *sdk.Tool) {
	one := define(t, c.said)
	if _, twice := c.tool(t.Name); twice {
		one.Bad = "its name stands twice in the server's list"
	}
	c.Tools = append(c.Tools, one)
}

// tool finds one by the server's own name for it.
func (c *Catalogue) tool(name string) (Tool, bool) {
	if c == nil {
		return Tool{}, false
	}
	i := slices.IndexFunc(c.Tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return c.Tools[i], true
}

// file is where a server's catalogue is kept; a server that is started in another way is another
// one. Values of variables may be secrets and are left out.
func (s Server) file(dir string) string {
	whole, _ := json.Marshal([]any{s.Name, s.Command, s.URL, s.Dir, slices.Sorted(maps.Keys(s.Env)), slices.Sorted(maps.Keys(s.Headers)), s.From}) // texts always encode
	sum := sha256.Sum256(whole)
	return filepath.Join(dir, tool.PlainName(s.Name)+"-"+hex.EncodeToString(sum[:6])+".json")
}

// loadCatalogue reads one; what cannot be read was never seen.
func loadCatalogue(path string) *Catalogue {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 2*maxBytes {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	c := &Catalogue{}
	if json.Unmarshal(raw, c) != nil || c.Version != catalogueVersion {
		return nil
	}
	return c
}

// keep writes a file of the state folder whole, for the user alone; without it less is known later.
func keep(path string, v any) {
	if raw, err := json.Marshal(v); err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = atomicfile.WriteCache(path, raw)
	}
}

// Change is what a server says otherwise than the user agreed to.
type Change struct {
	Server  string
	Lines   []string // what is different, for the user
	Changed []string // names of tools
	Added   []string
	Removed []string
	// Said is the hash of all that the server says now: what is agreed to is that, and nothing that
	// looks alike in the Lines.
	Said string
}

// Any reports whether the user has to agree; what is gone needs no consent.
func (c Change) Any() bool { return len(c.Changed)+len(c.Added) > 0 }

// changes compares what was agreed to with what is said now.
func changes(server string, old, now *Catalogue) Change {
	c := Change{Server: server, Said: now.hash()}
	if old.Instructions != now.Instructions {
		c.Lines = append(c.Lines, differ("instructions", old.Instructions, now.Instructions)...)
	}
	for _, t := range now.Tools {
		was, known := old.tool(t.Name)
		switch {
		case !known:
			c.Added = append(c.Added, t.Name)
			c.Lines = append(c.Lines, "+ "+Line(t.Name, 100)+": "+Line(t.Description, maxDescription), "    takes: "+shown(string(t.Parameters)))
		case was.Pin != t.Pin:
			c.Changed = append(c.Changed, t.Name)
			c.Lines = append(c.Lines, t.against(was)...)
		}
	}
	for _, t := range old.Tools {
		if _, still := now.tool(t.Name); !still {
			c.Removed = append(c.Removed, t.Name)
			c.Lines = append(c.Lines, "- "+Line(t.Name, 100))
		}
	}
	return c
}

// against tells what differs from what was agreed to.
func (t Tool) against(was Tool) (out []string) {
	name := Line(t.Name, 100)
	out = append(out, differ(name+": title", was.Title, t.Title)...)
	out = append(out, differ(name+": description", was.Description, t.Description)...)
	out = append(out, differ(name+": schema", string(was.Parameters), string(t.Parameters))...)
	out = append(out, differ(name+": hints", strings.Join(was.Hints, ", "), strings.Join(t.Hints, ", "))...)
	if len(out) == 0 {
		out = []string{"~ " + name + ": what it says beside its description and arguments"}
	}
	return out
}

// hash is that of all that is said, and not of what is kept of it alone.
func (c *Catalogue) hash() string {
	h := sha256.New()
	for _, t := range c.Tools {
		io.WriteString(h, t.Pin+"\n")
	}
	io.WriteString(h, c.Instructions)
	return hex.EncodeToString(h.Sum(nil))
}

// maxShown bounds one text of a question in bytes: a whole description, and the beginning of a long
// schema.
const maxShown = 2 * maxDescription

// shown is a text for a question, which says how much of it is not shown.
func shown(text string) string {
	if len(text) <= maxShown {
		return Line(text, maxShown)
	}
	return fmt.Sprintf("%s (the first %d of %d bytes)", Line(text, maxShown), maxShown, len(text))
}

// differ tells two texts apart where they differ: what stands before and behind is left out.
func differ(what, old, now string) []string {
	if old == now {
		return nil
	}
	a, b := []rune(old), []rune(now)
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	show := func(r []rune) string {
		from, to := max(0, start-20), min(len(r), len(r)-end+20)
		text := string(r[from:to])
		if from > 0 {
			text = "…" + text
		}
		if to < len(r) {
			text += "…"
		}
		return shown(text)
	}
	return []string{"~ " + what, "    was: " + show(a), "    now: " + show(b)}
}
