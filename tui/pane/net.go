package pane

import (
	"fmt"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// Net is the pane with the changes since a starting point: each hunk once, in file order.
type Net struct {
	draw  *ui.Drawing
	files []NetFile
	since string // the starting point, in words
	none  string // text to show without changes
	parts []NetPart
	kept  map[NetPart]bool // hunks marked as kept
	rows  ui.Sheaf         // layout for width w; nil if outdated
	marks []int
	w     int
}

// NetFile is a changed file.
type NetFile struct {
	Path, Note string
	Hunks      []string // unified, each beginning with its @@ line
}

// NetPart is a part of the pane: a file's hunk, or a file without hunks.
type NetPart struct{ Path, Hunk string }

// NewNet returns an empty pane.
func NewNet(d *ui.Drawing) *Net { return &Net{draw: d, kept: map[NetPart]bool{}} }

// Show sets the changes since a starting point; none is the text to show if there are none.
func (n *Net) Show(since string, files []NetFile, none string) {
	n.since, n.files, n.none, n.rows = since, files, none, nil
	n.parts = n.parts[:0]
	for _, f := range files {
		for _, h := range f.Hunks {
			n.parts = append(n.parts, NetPart{f.Path, h})
		}
		if len(f.Hunks) == 0 {
			n.parts = append(n.parts, NetPart{f.Path, ""})
		}
	}
}

// At returns the file and the hunk of a part, counted from 0; hunk is negative for a file without
// hunks.
func (n *Net) At(part int) (file, hunk int, ok bool) {
	for i, f := range n.files {
		parts := max(len(f.Hunks), 1)
		if part < parts {
			if len(f.Hunks) == 0 {
				part = -1
			}
			return i, part, true
		}
		part -= parts
	}
	return 0, 0, false
}

// Keep marks a hunk as kept, or removes the mark.
func (n *Net) Keep(part int) {
	if part < len(n.parts) {
		n.kept[n.parts[part]] = !n.kept[n.parts[part]]
		n.rows = nil
	}
}

// Heading implements sheet.
func (n *Net) Heading() string {
	added, removed := 0, 0
	for _, f := range n.files {
		for _, h := range f.Hunks {
			a, r := draw.Count(h)
			added, removed = added+a, removed+r
		}
	}
	if len(n.files) == 0 {
		return "net changes"
	}
	return fmt.Sprintf("net changes · %s %s", plural.Of(len(n.files), "file"), ui.PlusMinus(added, removed))
}

// Pages implements sheet.
func (n *Net) Pages(w int) (ui.Page, []int) {
	if n.rows == nil || n.w != w {
		n.w = w
		n.lay(w)
	}
	return n.rows, n.marks
}

func (n *Net) lay(w int) {
	t := n.draw.Theme
	n.rows, n.marks = ui.Sheaf{}, nil
	at := 0
	add := func(p ui.Page) { n.rows, at = append(n.rows, p), at+p.Len() }
	line := func(text string) {
		add(ui.RenderedPage(t.Wrap(nil, w, draw.Margins{}, draw.Span{Style: draw.Dim, Text: safeterm.Name(text)})))
	}
	line("since " + n.since)
	add(ui.RenderedPage{draw.Row{}})
	if len(n.files) == 0 {
		line(n.none)
	}
	for _, f := range n.files {
		n.marks = append(n.marks, at)
		added, removed := 0, 0
		for _, h := range f.Hunks {
			a, r := draw.Count(h)
			added, removed = added+a, removed+r
		}
		facts := "  " + f.Note
		if len(f.Hunks) > 0 {
			facts = "  " + ui.PlusMinus(added, removed)
			if f.Note != "" {
				facts += " · " + f.Note
			}
		}
		add(ui.RenderedPage{t.Pen().Put(draw.Heading, safeterm.Name(f.Path)).Put(draw.Dim, safeterm.Name(facts)).Done().Fit(w)})
		for i, h := range f.Hunks {
			if i > 0 {
				n.marks = append(n.marks, at)
			}
			if n.kept[NetPart{f.Path, h}] {
				line("kept")
			}
			add(t.Patch(tool.Block{Kind: tool.DiffBlock, Path: f.Path, Text: h}, w, w >= ui.Split))
		}
		add(ui.RenderedPage{draw.Row{}})
	}
}

// Forget drops the layout after the theme has changed.
func (n *Net) Forget() { n.rows = nil }
