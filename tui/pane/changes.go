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

// Changes lists the files changed in this session, without knowledge of the tools: outcomes name
// the files, and blocks contain the diffs. Events add changes that undo has seen besides, mostly by
// commands.
type Changes struct {
	draw   *ui.Drawing
	unseen []pendingChange
	// delegated lists calls whose subagents' calls were seen.
	delegated []tool.CallID
	files     []*changedFile // in order of their first change
}

// NewChanges returns an empty list.
func NewChanges(d *ui.Drawing) *Changes { return &Changes{draw: d} }

// pendingChange is a call with changes that are not decoded yet.
type pendingChange struct {
	tool   string
	raw    json.RawMessage
	of     []string
	window []session.FileChange // file changes seen during the call
}

type changedFile struct {
	path           string
	calls          int
	diffs          int
	added, removed int
	became         string // last observed change without a diff
}

// Apply stores changes; drawing decodes them.
func (c *Changes) Apply(e session.Event) {
	switch e := e.(type) {
	case session.ToolEnd:
		if e.Parent != "" {
			c.delegated = append(c.delegated, e.Parent)
		}
		if !slices.Contains(c.delegated, e.Outcome.Call) { // otherwise the subagent's calls were seen
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
		c.unseen = append(c.unseen, pendingChange{o.Tool, o.Metadata, o.Changed, seen})
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

// declared adds the diffs in a call's blocks and returns their files.
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
		c.file(b.Path).add(b.Text)
		shown[b.Path] = true
	}
	return shown
}

// seen adds observed changes to other files.
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
			f.add(x.Diff)
		}
	}
}

// became describes a change without a diff.
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
		if f.path == path {
			return f
		}
	}
	f := &changedFile{path: path}
	c.files = append(c.files, f)
	return f
}

func (f *changedFile) add(diff string) {
	f.diffs++
	added, removed := draw.Count(diff)
	f.added, f.removed = f.added+added, f.removed+removed
}

func (c *Changes) heading() string {
	added, removed := 0, 0
	for _, f := range c.files {
		added, removed = added+f.added, removed+f.removed
	}
	return fmt.Sprintf("changes · %s %s", plural.Of(len(c.files), "file"), ui.PlusMinus(added, removed))
}

// Brief lists the changed files in at most h rows.
func (c *Changes) Brief(w, h int) []draw.Row {
	c.look()
	if len(c.files) == 0 || h < 2 {
		return nil
	}
	t := c.draw.Theme
	rows := []draw.Row{ui.Title(t, w, c.heading())}
	for i, f := range c.files {
		if rest := len(c.files) - i; len(rows) == h-1 && rest > 1 {
			return append(rows, t.Line(draw.Dim, safeterm.Name(fmt.Sprintf("… %d more", rest))).Fit(w))
		}
		rows = append(rows, t.Pen().Put(draw.Plain, safeterm.Name(f.path)).Put(draw.Dim, safeterm.Name(f.facts())).Done().Fit(w))
	}
	return rows
}

// Empty reports whether no file has changed.
func (c *Changes) Empty() bool { c.look(); return len(c.files) == 0 }

func (f *changedFile) facts() string {
	var parts []string
	if f.diffs > 0 {
		parts = append(parts, ui.PlusMinus(f.added, f.removed))
	}
	if f.calls > 1 {
		parts = append(parts, plural.Of(f.calls, "change"))
	}
	switch {
	case f.became != "" && (f.diffs == 0 || !strings.Contains(f.became, "→ ") || strings.HasPrefix(f.became, "mode")):
		parts = append(parts, f.became)
	case f.diffs == 0:
		parts = append(parts, "no diff")
	}
	return "  " + strings.Join(parts, " · ")
}
