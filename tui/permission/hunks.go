package permission

import (
	"fmt"
	"strings"

	"adze/internal/stream/ask"
	"adze/internal/text/safeterm"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// hunk is a hunk in a call's change.
type hunk struct {
	text    string // diff text, beginning with its "@@" line
	of      tool.Block
	refused bool
	row     int // first row in the last layout
}

// Parts returns how many hunks can be refused one by one. With 0 or 1 the change can only be
// allowed or denied as a whole.
func (p *Dialog) Parts() int {
	if !p.Open() || p.queue[0].Question.WithoutHunks == nil {
		return 0
	}
	n := 0
	for _, b := range p.diffs() {
		for line := range strings.SplitSeq(b.Text, "\n") {
			if startsHunk(line) {
				n++
			}
		}
	}
	return n
}

// startsHunk reports whether line begins a hunk: content lines begin with a sign or a space.
func startsHunk(line string) bool { return strings.HasPrefix(line, "@@") }

// diffs returns the diffs in the preview.
func (p *Dialog) diffs() (found []tool.Block) {
	for _, b := range p.queue[0].Preview {
		if b.Kind == tool.DiffBlock {
			found = append(found, b)
		}
	}
	return found
}

// Split opens the hunks, or returns to the question and forgets refused ones.
func (p *Dialog) Split(on bool) {
	if !on {
		p.hunks = nil
		p.goTo(AtQuestion)
		return
	}
	p.hunk = 0
	for _, b := range p.diffs() {
		before := len(p.hunks)
		for line := range strings.SplitAfterSeq(b.Text, "\n") {
			if startsHunk(line) {
				p.hunks = append(p.hunks, hunk{of: b})
			}
			if n := len(p.hunks); n > before {
				p.hunks[n-1].text += line
			}
		}
	}
	p.goTo(AtHunks)
}

// Move selects another hunk and scrolls to it.
func (p *Dialog) Move(by int) {
	p.hunk = min(max(p.hunk+by, 0), len(p.hunks)-1)
	p.layout = nil
	p.Body(p.w)
	p.scrolled = p.hunks[p.hunk].row
}

// Flip refuses the current hunk, or keeps it again.
func (p *Dialog) Flip() {
	h := &p.hunks[p.hunk]
	h.refused, p.layout = !h.refused, nil
}

// refused returns the refused hunks' numbers, counted from 1.
func (p *Dialog) refused() (out []int) {
	for i, h := range p.hunks {
		if h.refused {
			out = append(out, i+1)
		}
	}
	return out
}

// Refused returns the number of refused hunks.
func (p *Dialog) Refused() int { return len(p.refused()) }

// Part allows the change without the refused hunks; if all are refused, it denies the call.
func (p *Dialog) Part() {
	refused := p.refused()
	a := ask.Answer{Choice: ask.Once, Refused: refused, Reason: strings.TrimSpace(p.Reason.Text)}
	switch len(refused) {
	case 0:
		a.Reason = ""
	case p.Parts():
		a.Choice, a.Refused = ask.Deny, nil
	}
	p.Answer(a)
}

// layHunks draws each hunk under a row with its state.
func (p *Dialog) layHunks(w int) (body ui.Sheaf) {
	for i := range p.hunks {
		h := &p.hunks[i]
		h.row = body.Len()
		one := h.of
		one.Text = h.text
		body = append(body, ui.RenderedPage{p.head(i).Fit(w)}, p.theme.Patch(one, w, w >= ui.Split))
	}
	return body
}

func (p *Dialog) head(i int) draw.Row {
	h, pen := p.hunks[i], p.theme.Pen()
	mark, style, state := "  ", draw.Plain, "[✓] "
	if i == p.hunk {
		mark, style = "▸ ", draw.Accent
	}
	said := ""
	if h.refused {
		state, said = "[✗] ", " · dropped"
	}
	return pen.Fixed(style, mark+state).Put(draw.Bold, safeterm.Name(fmt.Sprintf("hunk %d of %d", i+1, len(p.hunks)))).
		Fixed(draw.Warn, said).Put(draw.Dim, safeterm.Name(" · "+h.of.Path)).Done()
}
