package pane

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// Changes is the pane of the files that calls changed in this session. It knows no tool: outcomes
// name the files, and blocks show the diffs; what undo saw of files beside that, by commands above
// all, comes with the events.
type Changes struct {
	draw   *ui.Drawing
	unseen []pendingChange
	// delegated are calls whose subagents' calls were seen.
	delegated []tool.CallID
	files     []*changedFile // in the order of their first change
	rows      ui.Sheaf       // laid out for width w; if nil, not yet
	marks     []int
	w         int
}

// NewChanges is a pane without changes.
func NewChanges(d *ui.Drawing) *Changes { return &Changes{draw: d} }

// pendingChange is a call that changed files and was not looked at yet.
type pendingChange struct {
	tool   string
	raw    json.RawMessage
	of     []string
	window []session.FileChange // what was seen of files meanwhile
}

type changedFile struct {
	Path           string
	calls          int
	added, removed int
	became         string // what was seen of it last where there is no diff
	Diffs          []tool.Block
}

// Apply remembers what changed; it is decoded when the pane is drawn.
func (c *Changes) Apply(e session.Event) {
	switch e := e.(type) {
	case session.ToolEnd:
		if e.Parent != "" {
			c.delegated = append(c.delegated, e.Parent)
		}
		if !slices.Contains(c.delegated, e.Outcome.Call) { // else each of its calls was seen
			c.remember(e.Outcome, e.Window)
		}
	case session.FilesChanged:
		c.remember(tool.Outcome{}, &e.Window)
	case session.MessageDone:
		for _, p := range e.Message.Parts {
			if p.Outcome != nil {
				c.remember(*p.Outcome, nil)
			}
		}
	}
}

func (c *Changes) remember(o tool.Outcome, w *session.Window) {
	var seen []session.FileChange
	if w != nil {
		seen = w.Changes
	}
	if len(o.Changed)+len(seen) > 0 {
		c.unseen, c.rows = append(c.unseen, pendingChange{o.Tool, o.Metadata, o.Changed, seen}), nil
	}
}

func (c *Changes) look() {
	for _, u := range c.unseen {
		for _, path := range u.of {
			c.file(path).calls++
		}
		u.seen(c, u.declared(c))
	}
	c.unseen = nil
}

// declared takes the diffs that a call shows itself, and tells of which files.
func (u pendingChange) declared(c *Changes) map[string]bool {
	shown := map[string]bool{}
	if u.raw == nil {
		return shown
	}
	for _, b := range c.draw.Blocks(u.tool, u.raw) {
		if b.Kind != tool.DiffBlock {
			continue
		}
		if b.Path == "" || !slices.Contains(u.of, b.Path) && len(u.of) == 1 {
			b.Path = u.of[0]
		}
		c.file(b.Path).add(b)
		shown[b.Path] = true
	}
	return shown
}

// seen takes what was seen of the other files.
func (u pendingChange) seen(c *Changes, shown map[string]bool) {
	for _, x := range u.window {
		if x.Git || shown[x.Path] || x.Before.Kind == "folder" && x.After.Kind == "folder" && x.Before.Mode == x.After.Mode {
			continue
		}
		f := c.file(x.Path)
		if !slices.Contains(u.of, x.Path) {
			f.calls++
		}
		f.became = became(x)
		if x.Diff != "" {
			f.add(tool.Block{Kind: tool.DiffBlock, Path: x.Path, Text: x.Diff})
		}
	}
}

// became says what happened to a path, where no diff shows it.
func became(x session.FileChange) string {
	a, b := x.Before, x.After
	switch {
	case a.Kind == "absent":
		return "new " + b.Kind
	case b.Kind == "absent":
		return a.Kind + " removed"
	case a.Kind != b.Kind:
		return a.Kind + " became " + b.Kind
	case a.SHA256 == b.SHA256 && a.Target == b.Target && a.Mode != b.Mode:
		return fmt.Sprintf("mode %o → %o", a.Mode, b.Mode)
	case a.Kind == "file":
		return ui.Size(int(a.Size)) + " → " + ui.Size(int(b.Size))
	}
	return b.Kind + " changed"
}

func (c *Changes) file(path string) *changedFile {
	for _, f := range c.files {
		if f.Path == path {
			return f
		}
	}
	f := &changedFile{Path: path}
	c.files = append(c.files, f)
	return f
}

func (f *changedFile) add(b tool.Block) {
	f.Diffs = append(f.Diffs, b)
	added, removed := draw.Count(b.Text)
	f.added, f.removed = f.added+added, f.removed+removed
}

// Heading implements sheet.
func (c *Changes) Heading() string {
	c.look()
	added, removed := 0, 0
	for _, f := range c.files {
		added, removed = added+f.added, removed+f.removed
	}
	if len(c.files) == 0 {
		return "changes"
	}
	return fmt.Sprintf("changes · %s %s", plural.Of(len(c.files), "file"), ui.PlusMinus(added, removed))
}

// Pages implements sheet: each file with its diffs, oldest first.
func (c *Changes) Pages(w int) (ui.Page, []int) {
	c.look()
	if c.rows == nil || c.w != w {
		c.w = w
		c.rows, c.marks = c.lay(w)
	}
	return c.rows, c.marks
}

// Brief lists the changed files in at most h rows.
func (c *Changes) Brief(w, h int) []draw.Row {
	c.look()
	if len(c.files) == 0 || h < 2 {
		return nil
	}
	t := c.draw.Theme
	rows := []draw.Row{ui.Title(t, w, c.Heading())}
	for i, f := range c.files {
		if rest := len(c.files) - i; len(rows) == h-1 && rest > 1 {
			return append(rows, t.Line(draw.Dim, safeterm.Name(fmt.Sprintf("… %d more", rest))).Fit(w))
		}
		rows = append(rows, t.Pen().Put(draw.Plain, safeterm.Name(f.Path)).Put(draw.Dim, safeterm.Name(f.facts())).Done().Fit(w))
	}
	return rows
}

// untracked says what the pane cannot know.
const untracked = "Changes by commands are listed where undo covers them; git diff shows the rest."

func (c *Changes) lay(w int) (rows ui.Sheaf, marks []int) {
	t := c.draw.Theme
	rows = ui.Sheaf{}
	at := 0
	add := func(p ui.Page) { rows, at = append(rows, p), at+p.Len() }
	for _, f := range c.files {
		marks = append(marks, at)
		head := t.Pen().Put(draw.Heading, safeterm.Name(f.Path)).Put(draw.Dim, safeterm.Name(f.facts()))
		add(ui.Laid{head.Done().Fit(w)})
		for _, d := range f.Diffs {
			add(t.Patch(d, w, w >= ui.Split))
		}
		add(ui.Laid{draw.Row{}})
	}
	note := untracked
	if len(c.files) == 0 {
		note = "No call has changed a file in this session. " + note
	}
	add(ui.Laid(t.Wrap(nil, w, draw.Margins{}, draw.Span{Style: draw.Dim, Text: safeterm.Name(note)})))
	return rows, marks
}

// Forget drops what was laid out, in another theme.
func (c *Changes) Forget() { c.rows = nil }

// None reports that no file was changed.
func (c *Changes) None() bool { return len(c.files) == 0 }

// At is the file that is looked at.
func (c *Changes) At(part int) (*changedFile, bool) {
	if part >= len(c.files) {
		return nil, false
	}
	return c.files[part], true
}

// Patch is all diffs of the file, one after the other.
func (f *changedFile) Patch() string {
	var b strings.Builder
	for _, d := range f.Diffs {
		b.WriteString(strings.TrimSuffix(d.Text, "\n") + "\n")
	}
	return b.String()
}

func (f *changedFile) facts() string {
	var parts []string
	if len(f.Diffs) > 0 {
		parts = append(parts, ui.PlusMinus(f.added, f.removed))
	}
	if f.calls > 1 {
		parts = append(parts, plural.Of(f.calls, "change"))
	}
	switch {
	case f.became != "" && (len(f.Diffs) == 0 || !strings.Contains(f.became, "→ ") || strings.HasPrefix(f.became, "mode")):
		parts = append(parts, f.became)
	case len(f.Diffs) == 0:
		parts = append(parts, "no diff")
	}
	return "  " + strings.Join(parts, " · ")
}
