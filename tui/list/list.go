// Package list is a list from which the user chooses a row: a session, a model, a mode, a call. It
// filters while the user types, may be filled later, and may show a preview of the selected row.
//
// The one rule: it knows rows, not their meaning; the caller handles the choice.
//
// Start reading at List.Begin. Known limits: one list at a time.
package list

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/ui"
)

// List is the pane to choose from: a session, a model, a mode, a call.
type List struct {
	theme    *draw.Theme
	Open     bool
	Title    string
	items    []Choice
	words    []string // filter text for each item, in lower case
	labels   int      // the widest label's width
	shown    []int    // matching items
	index    int      // index in shown
	Filter   edit.Editor
	narrowed string // filter used for shown
	Wait     string // why the list is empty: a lookup is running or has failed
	Serial   int    // increases with each opening, to detect late answers
	chosen   func(c Choice) tea.Cmd
	// Copied opens a copy of the choice; nil if unsupported.
	Copied func(c Choice) tea.Cmd
	// Ended ends a row's job; nil if unsupported.
	Ended func(c Choice) tea.Cmd
	// Free converts typed text that matches nothing into a choice; nil if unsupported.
	Free  func(text string) (Choice, bool)
	freed bool // the last item is from Free
	// Fixed means that the rows are answers to a question, without a filter.
	Fixed bool
	// peek loads the selected row's preview, one line per span, under peekTitle; nil without
	// previews.
	peek      *lookup[[]draw.Span]
	peekTitle string
	// search finds rows beyond the filter; nil without search.
	search *lookup[found]
}

// New returns a closed list.
func New(t *draw.Theme) *List { return &List{theme: t} }

// Begin opens the list; Fill may add items later.
func (p *List) Begin(title string, items []Choice, chosen func(Choice) tea.Cmd) {
	p.peek.drop()
	p.search.drop()
	*p = List{theme: p.theme, Open: true, Title: title, chosen: chosen, Serial: p.Serial + 1}
	p.add(items)
	p.Narrow()
}

// Ask opens the list with the answers to a question. The one with the ID no does nothing.
func (p *List) Ask(question string, answers []Choice, chosen func(Choice) tea.Cmd) {
	p.Begin(question, answers, func(c Choice) tea.Cmd {
		if c.ID == "no" {
			return nil
		}
		return chosen(c)
	})
	p.Fixed = true
}

// Fill adds items from a lookup and keeps the selection.
func (p *List) Fill(items []Choice, err error) {
	p.Wait = ""
	if err != nil {
		p.Wait = "error: " + err.Error()
	}
	here, ok := p.Selected()
	p.add(items)
	p.Narrow()
	for i, item := range p.shown {
		if ok && p.item(item).ID == here.ID {
			p.index = i
			return
		}
	}
}

func (p *List) add(items []Choice) {
	p.unfree()
	for _, c := range items {
		p.items = append(p.items, c)
		p.words = append(p.words, strings.ToLower(c.Label+" "+c.Note+" "+c.Find))
		p.labels = max(p.labels, c.width(p.theme))
	}
}

// unfree removes the item from Free.
func (p *List) unfree() {
	if n := len(p.items) - 1; p.freed {
		p.items, p.words, p.freed = p.items[:n], p.words[:n], false
	}
}

// Choices returns the shown rows in order; Mark selects one by index and returns false if there is
// no such row.
func (p *List) Choices() (out []Choice) {
	for _, i := range p.shown {
		out = append(out, p.item(i))
	}
	return out
}

func (p *List) Mark(n int) bool {
	if n < 0 || n >= len(p.shown) {
		return false
	}
	p.index = n
	return true
}

// Looking reports whether a lookup is running.
func (p *List) Looking() bool { return p.Wait == looking }

// NarrowTo sets the filter.
func (p *List) NarrowTo(text string) {
	p.Filter.Set(text)
	p.Narrow()
}

// Selected returns the selected row.
func (p *List) Selected() (Choice, bool) {
	if p.index >= len(p.shown) {
		return Choice{}, false
	}
	return p.item(p.shown[p.index]), true
}

// Narrow applies the filter: rows must contain every word.
func (p *List) Narrow() {
	p.unfree()
	p.shown, p.index, p.narrowed = p.shown[:0], 0, p.Filter.Text
	words := strings.Fields(strings.ToLower(p.Filter.Text))
	for i := range p.items {
		if ui.HoldsAll(p.words[i], words) {
			p.shown = append(p.shown, i)
		}
	}
	p.shown = append(p.shown, p.foundRows()...)
	if len(p.shown) > 0 || p.Free == nil {
		return
	}
	if c, ok := p.Free(strings.TrimSpace(p.Filter.Text)); ok {
		p.add([]Choice{c})
		p.shown, p.freed = append(p.shown, len(p.items)-1), true
	}
}

// Stale reports whether the filter has changed since Narrow.
func (p *List) Stale() bool { return p.Filter.Text != p.narrowed }

// Move moves the selection by rows.
func (p *List) Move(by int) { p.index = max(min(p.index+by, len(p.shown)-1), 0) }

// Render draws the filter and the rows around the selected one, with the preview beside or below,
// and returns the cursor position.
func (p *List) Render(w, h int) (rows []draw.Row, x, y int) {
	if p.peek == nil || h < minPeek {
		return p.list(w, h, false)
	}
	if w >= ui.Wide {
		left := w * 3 / 5
		rows, x, y = p.list(left-2, h, true)
		c := ui.Canvas{Rows: make([]draw.Row, h), Theme: p.theme}
		c.Put(ui.NewRect(0, 0, left-2, h), rows)
		c.Divide(ui.NewRect(left-1, 0, 1, h))
		c.Put(ui.NewRect(left+1, 0, w-left-1, h), p.looked(w-left-1, h))
		return c.Rows, x, y
	}
	// A short list leaves the other rows to the preview; filtering does not move the border.
	low := h - min(max(len(p.items)+listHead, listLeast), h-h/3)
	rows, x, y = p.list(w, h-low, true)
	for len(rows) < h-low {
		rows = append(rows, draw.Row{})
	}
	return append(rows, p.looked(w, low)...), x, y
}

// listHead is the height above a list, listLeast its minimum height.
const listHead, listLeast = 2, 6

// list draws the filter and the rows around the selected one. peeks means that a preview is drawn
// beside it.
func (p *List) list(w, h int, peeks bool) (rows []draw.Row, x, y int) {
	t := p.theme
	name := p.Title
	found := len(p.foundRows())
	if own := len(p.shown) - found; own < len(p.items) {
		name += fmt.Sprintf(" · %d of %d", own, len(p.items))
	}
	if found > 0 {
		name += fmt.Sprintf(" · %d found", found)
	}
	rows = append(rows, ui.Title(t, w, name))
	x, y = -1, -1
	if !p.Fixed {
		lead := t.Pen().Fixed(draw.Key, "filter: ").Done()
		own, at, _ := p.Filter.Rows(t, max(w-lead.Width(), 1))
		rows, x, y = append(rows, t.Pen().Row(lead).Row(own[0]).Done()), lead.Width()+at, 1
	}
	room := max(h-len(rows), 1)
	says := p.says(peeks)
	wait := t.Wrap(nil, w, draw.Margins{}, draw.Span{Style: draw.Dim, Text: safeterm.Name(says)})
	if says != "" {
		room = max(room-len(wait), 1)
	}
	rows = append(rows, window(t, p.Choices(), p.index, labelWidth(p.widest(), w), w, room)...)
	switch {
	case says != "":
		rows = append(rows, wait...)
	case len(p.shown) == 0:
		rows = append(rows, t.Line(draw.Dim, safeterm.Fixed("nothing matches")))
	}
	return rows, x, y
}

// Close closes the list without a choice.
func (p *List) Close() {
	p.Open = false
	p.peek.drop()
	p.search.drop()
}

// Pick chooses the selected row.
func (p *List) Pick() tea.Cmd {
	c, _ := p.Selected()
	p.Close()
	return p.chosen(c)
}

// CanPick returns why the selected row cannot be chosen, or "".
func (p *List) CanPick() string {
	c, ok := p.Selected()
	if !ok {
		return "nothing matches the filter"
	}
	return c.DisabledReason
}

// PickCopy chooses the selected row as a copy.
func (p *List) PickCopy() tea.Cmd {
	c, _ := p.Selected()
	p.Close()
	return p.Copied(c)
}

// PickEnd ends the selected row's job.
func (p *List) PickEnd() tea.Cmd {
	c, _ := p.Selected()
	end := p.Ended
	p.Close()
	return end(c)
}

// CanPickEnd returns why the selected row's job cannot be ended, or "".
func (p *List) CanPickEnd() string {
	switch c, ok := p.Selected(); {
	case p.Ended == nil:
		return "nothing in this list is running"
	case !ok || c.ID == "":
		return "nothing is marked"
	case c.Ended:
		return "it has already ended"
	}
	return ""
}

// CanPickCopy returns why the selected row cannot be copied, or "".
func (p *List) CanPickCopy() string {
	switch c, ok := p.Selected(); {
	case p.Copied == nil:
		return "only a session can be opened as a copy"
	case !ok || c.ID == "":
		return "no session is marked"
	}
	return ""
}
