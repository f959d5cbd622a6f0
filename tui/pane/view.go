// Package pane contains the panes around the conversation: background work (Activity), the
// checklist (Todos), the status line (Status), and the panes that replace the conversation:
// changes, the model's context (Ledger) and help.
//
// The one rule: a pane takes events by Apply and draws itself by Render or as a sheet; it has no
// access to anything else, not even another pane. The caller assigns keys.
//
// Start reading at todos.go, the simplest one; view.go is the window on a sheet. To add a pane: a
// file here, a field in tui's model, a line in its apply, a rectangle in Arrange. Known limits: in
// a resumed session, earlier changes by commands are listed without diffs.
package pane

import (
	"fmt"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/ui"
)

// sheet is a pane shown in place of the conversation, such as the net changes. It has one of two
// more methods; marks are the first rows of its parts:
//
//	Sheet(w int) (rows []draw.Row, marks []int)
//	Pages(w int) (rows page, marks []int) // for too many rows to draw all of them
type sheet interface {
	// Heading returns the name and a summary.
	Heading() string
}

func lay(s sheet, w int) (ui.Page, []int) {
	switch s := s.(type) {
	case interface {
		Pages(w int) (ui.Page, []int)
	}:
		return s.Pages(w)
	case interface {
		Sheet(w int) ([]draw.Row, []int)
	}:
		rows, marks := s.Sheet(w)
		return ui.RenderedPage(rows), marks
	}
	return ui.RenderedPage(nil), nil
}

// View is the window on the open sheet.
type View struct {
	theme *draw.Theme
	sheet sheet // nil if none is open
	close string
	top   int
	part  int   // the current part's index
	h     int   // window height when last drawn
	total int   // row count when last drawn
	marks []int // marks when last drawn
}

// NewView returns a closed view; closes names the key that closes a sheet.
func NewView(t *draw.Theme, closes string) *View { return &View{theme: t, close: closes} }

// Render draws the sheet under its heading.
func (v *View) Render(w, h int) []draw.Row {
	rows, marks := lay(v.sheet, w)
	v.h, v.total, v.marks = h-1, rows.Len(), marks
	v.top = max(min(v.top, v.total-v.h), 0)
	v.part = max(min(v.part, len(marks)-1), 0)
	head := v.theme.Pen().Fixed(draw.Border, "── ").Put(draw.Bold, safeterm.Name(v.sheet.Heading())).Fixed(draw.Plain, " ")
	right := v.where("rows %d–%d of %d · ")
	if head.Width()+right.Width() > w {
		right = v.where("%d–%d/%d · ")
	}
	first := head.Rule(draw.Border, w-right.Width()).Done().Fit(w - right.Width()) // never truncate the closing key
	out := []draw.Row{v.theme.Pen().Row(first).Row(right).Done().Fit(w)}
	return rows.Append(out, v.top, min(v.top+v.h, v.total))
}

// where draws the current part and rows.
func (v *View) where(rows string) draw.Row {
	pen := v.theme.Pen().Fixed(draw.Plain, " ")
	put := func(format string, args ...any) { pen.Put(draw.Dim, safeterm.Name(fmt.Sprintf(format, args...))) }
	if len(v.marks) > 1 {
		put("%d of %d · ", v.part+1, len(v.marks))
	}
	if v.total > v.h {
		put(rows, v.top+1, min(v.top+v.h, v.total), v.total)
	}
	put("%s: close", v.close)
	return pen.Done()
}

// Scroll moves the window; the part at its top becomes the current one.
func (v *View) Scroll(by int) {
	v.top = max(min(v.top+by, v.total-v.h), 0)
	for i, at := range v.marks {
		if at <= v.top {
			v.part = i
		}
	}
}

// ToPart moves by parts.
func (v *View) ToPart(by int) {
	v.part = max(min(v.part+by, len(v.marks)-1), 0)
	v.top = max(min(v.marks[v.part], v.total-v.h), 0)
}

// Open reports whether a sheet is open; Shows reports whether it is s.
func (v *View) Open() bool         { return v.sheet != nil }
func (v *View) Shows(s sheet) bool { return v.sheet == s }

// Shut closes the sheet.
func (v *View) Shut() { v.sheet = nil }

// TakeOut closes the sheet and returns all of it, for the line-based interface. rows is nil if none
// was open.
func (v *View) TakeOut(w int) (heading string, rows ui.Page) {
	s := v.sheet
	if s == nil {
		return "", nil
	}
	v.Shut()
	rows, _ = lay(s, w)
	return s.Heading(), rows
}

// ByPages scrolls by pages, ToEnd by the whole sheet.
func (v *View) ByPages(n int) { v.Scroll(n * max(v.h-2, 1)) }
func (v *View) ToEnd(n int)   { v.Scroll(n * v.total) }

// CurrentPart returns the current part; CanParts returns why there is no other one, or "".
func (v *View) CurrentPart() int { return v.part }

func (v *View) CanParts() string { return ui.ReasonIf(len(v.marks) < 2, "there is only one part") }

// Toggle opens a sheet, or closes it if it is open.
func (v *View) Toggle(s sheet) {
	if v.sheet == s {
		v.sheet = nil
		return
	}
	v.sheet, v.top, v.part = s, 0, 0
}
