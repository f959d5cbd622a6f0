package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/safeterm"
	"adze/session"
	"adze/tool"
	"adze/tui/draw"
)

// changes is the pane of the files that calls changed in this session. It knows no tool: outcomes name the
// files, and blocks show the diffs. What a command changes without saying so is not in it.
type changes struct {
	draw   *drawing
	unseen []changing
	// delegated are calls whose subagents' calls were seen.
	delegated []tool.CallID
	files     []*changedFile // in the order of their first change
	rows      sheaf          // laid out for width w; nil: not yet
	marks     []int
	w         int
}

func newChanges(d *drawing) *changes { return &changes{draw: d} }

// changing is a call that changed files and was not looked at yet.
type changing struct {
	tool string
	raw  json.RawMessage
	of   []string
}

type changedFile struct {
	path           string
	calls          int
	added, removed int
	diffs          []tool.Block
}

// Apply remembers what changed; it is decoded when the pane is drawn.
func (c *changes) Apply(e session.Event) {
	switch e := e.(type) {
	case session.ToolEnd:
		if e.Parent != "" {
			c.delegated = append(c.delegated, e.Parent)
		}
		if !slices.Contains(c.delegated, e.Outcome.Call) { // else each of its calls was seen
			c.remember(e.Outcome)
		}
	case session.MessageDone:
		for _, p := range e.Message.Parts {
			if p.Outcome != nil {
				c.remember(*p.Outcome)
			}
		}
	}
}

func (c *changes) remember(o tool.Outcome) {
	if len(o.Changed) > 0 {
		c.unseen, c.rows = append(c.unseen, changing{o.Tool, o.Metadata, o.Changed}), nil
	}
}

func (c *changes) look() {
	for _, u := range c.unseen {
		for _, path := range u.of {
			c.file(path).calls++
		}
		if u.raw == nil {
			continue
		}
		for _, b := range c.draw.blocks(u.tool, u.raw) {
			if b.Kind != tool.DiffBlock {
				continue
			}
			if b.Path == "" || !slices.Contains(u.of, b.Path) && len(u.of) == 1 {
				b.Path = u.of[0]
			}
			c.file(b.Path).add(b)
		}
	}
	c.unseen = nil
}

func (c *changes) file(path string) *changedFile {
	for _, f := range c.files {
		if f.path == path {
			return f
		}
	}
	f := &changedFile{path: path}
	c.files = append(c.files, f)
	return f
}

func (f *changedFile) add(b tool.Block) {
	f.diffs = append(f.diffs, b)
	added, removed := draw.Count(b.Text)
	f.added, f.removed = f.added+added, f.removed+removed
}

// Heading implements sheet.
func (c *changes) Heading() string {
	c.look()
	added, removed := 0, 0
	for _, f := range c.files {
		added, removed = added+f.added, removed+f.removed
	}
	if len(c.files) == 0 {
		return "changes"
	}
	return fmt.Sprintf("changes · %s %s", count(len(c.files), "file"), plusMinus(added, removed))
}

// Pages implements sheet: each file with its diffs, oldest first.
func (c *changes) Pages(w int) (page, []int) {
	c.look()
	if c.rows == nil || c.w != w {
		c.w = w
		c.rows, c.marks = c.lay(w)
	}
	return c.rows, c.marks
}

// untracked says what the pane cannot know.
const untracked = "What a command changes without saying so is not listed; git diff shows it."

func (c *changes) lay(w int) (rows sheaf, marks []int) {
	t := c.draw.theme
	rows = sheaf{}
	at := 0
	add := func(p page) { rows, at = append(rows, p), at+p.Len() }
	for _, f := range c.files {
		marks = append(marks, at)
		head := t.Pen().Put(draw.Heading, safeterm.Name(f.path)).Put(draw.Dim, safeterm.Name(f.facts()))
		add(laidRows{head.Done().Fit(w)})
		for _, d := range f.diffs {
			add(t.Patch(d, w, w >= splitWidth))
		}
		add(laidRows{draw.Row{}})
	}
	note := untracked
	if len(c.files) == 0 {
		note = "No call has changed a file in this session. " + note
	}
	add(laidRows(t.Wrap(nil, w, draw.Margins{}, draw.Span{Style: draw.Dim, Text: safeterm.Name(note)})))
	return rows, marks
}

// forget drops what was laid out, in another theme.
func (c *changes) forget() { c.rows = nil }

// none reports that no file was changed.
func (c *changes) none() bool { return len(c.files) == 0 }

// at is the file that is looked at.
func (c *changes) at(part int) (*changedFile, bool) {
	if part >= len(c.files) {
		return nil, false
	}
	return c.files[part], true
}

// patch is all diffs of the file, one after the other.
func (f *changedFile) patch() string {
	var b strings.Builder
	for _, d := range f.diffs {
		b.WriteString(strings.TrimSuffix(d.Text, "\n") + "\n")
	}
	return b.String()
}

func (f *changedFile) facts() string {
	var parts []string
	if len(f.diffs) > 0 {
		parts = append(parts, plusMinus(f.added, f.removed))
	}
	if f.calls > 1 {
		parts = append(parts, count(f.calls, "change"))
	}
	if len(f.diffs) == 0 {
		parts = append(parts, "no diff")
	}
	return "  " + strings.Join(parts, " · ")
}
