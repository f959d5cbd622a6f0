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

// A Catalogue holds a server's description of itself and its tools: its first one, and the changes
// that the user approved since. It is kept on disk so that a run knows the tools without starting
// anything.
type Catalogue struct {
	Version       int    `json:"version"`
	Protocol      string `json:"protocol"`
	Title         string `json:"title,omitempty"`
	Instructions  string `json:"instructions,omitempty"`
	MissingReason string `json:"more,omitempty"` // why some tools are missing
	Prompts       bool   `json:"prompts,omitempty"`
	Resources     bool   `json:"resources,omitempty"`
	Tools         []Tool `json:"tools"`

	said string // raw instructions, covered by the pins
}

// catalogueVersion changes when the file format does.
const catalogueVersion = 1

// in bytes
const maxInstructions = 2 << 10

// newCatalogue cleans a server's description of itself; the caller adds the tools.
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

func (c *Catalogue) add(t *sdk.Tool) {
	one := define(t, c.said)
	if _, twice := c.tool(t.Name); twice {
		one.Bad = "its name stands twice in the server's list"
	}
	c.Tools = append(c.Tools, one)
}

// tool finds a tool by the server's own name for it.
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

// file returns the path of a server's catalogue. It depends on the way the server is started,
// without the values of variables, which may be secrets.
func (s Server) file(dir string) string {
	whole, _ := json.Marshal([]any{s.Name, s.Command, s.URL, s.Dir, slices.Sorted(maps.Keys(s.Env)), slices.Sorted(maps.Keys(s.Headers)), s.Source}) // strings always encode
	sum := sha256.Sum256(whole)
	return filepath.Join(dir, tool.PlainName(s.Name)+"-"+hex.EncodeToString(sum[:6])+".json")
}

// loadCatalogue returns nil for a file that it cannot read.
func loadCatalogue(path string) *Catalogue {
	c := &Catalogue{}
	if !LoadState(path, c) || c.Version != catalogueVersion {
		return nil
	}
	return c
}

// LoadState reads a state file, and reports whether it is there and could be read whole.
func LoadState(path string, into any) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 2*maxBytes {
		return false
	}
	raw, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(raw, into) == nil
}

// KeepState writes a state file atomically, readable by the user alone. Errors are ignored: later
// runs know less.
func KeepState(path string, v any) {
	if raw, err := json.Marshal(v); err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = atomicfile.WriteCache(path, raw)
	}
}

// A Change is the difference between a server's catalogue and the approved one.
type Change struct {
	Server  string
	Lines   []string // the differences, for the user
	Changed []string // tool names
	Added   []string
	Removed []string
	// Hash is the hash of the whole current catalogue. The user approves this hash and not merely
	// equal Lines.
	Hash string
}

// Any reports whether the user has to approve the change. Removed tools need no consent.
func (c Change) Any() bool { return len(c.Changed)+len(c.Added) > 0 }

func changes(server string, old, now *Catalogue) Change {
	c := Change{Server: server, Hash: now.hash()}
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

// against lists the differences from the approved tool.
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

// hash covers the tools' pins and the instructions.
func (c *Catalogue) hash() string {
	h := sha256.New()
	for _, t := range c.Tools {
		io.WriteString(h, t.Pin+"\n")
	}
	io.WriteString(h, c.Instructions)
	return hex.EncodeToString(h.Sum(nil))
}

// maxShown limits one text of a question, in bytes: a full description, or the start of a long
// schema.
const maxShown = 2 * maxDescription

// shown shortens a text for a question and notes how much is missing.
func shown(text string) string {
	if len(text) <= maxShown {
		return Line(text, maxShown)
	}
	return fmt.Sprintf("%s (the first %d of %d bytes)", Line(text, maxShown), maxShown, len(text))
}

// differ shows the part in which two texts differ, without their common start and end.
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
