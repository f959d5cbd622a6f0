package pane

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tui/draw"
	"adze/tui/ui"
)

// Ledger is the pane of what fills the model's context, what was used, and what a provider's cache
// lost. The session counts; this only draws.
type Ledger struct {
	draw  *ui.Drawing
	clock func() time.Time // its zone is that of the times
	now   session.Ledger
}

// NewLedger is a pane without a count; clock's zone is that of the times it tells.
func NewLedger(d *ui.Drawing, clock func() time.Time) *Ledger {
	return &Ledger{draw: d, clock: clock}
}

// Apply takes the newest count.
func (l *Ledger) Apply(e session.Event) {
	if c, ok := e.(session.Counted); ok {
		l.now = c.Ledger
	}
}

// Heading implements sheet.
func (l *Ledger) Heading() string {
	text := "context · about " + ui.Thousands(l.now.Estimate)
	if l.now.Window > 0 {
		text += " of " + ui.Round(l.now.Window)
	}
	return text + " tokens"
}

// Sheet implements sheet.
func (l *Ledger) Sheet(w int) (rows []draw.Row, marks []int) {
	p := &ledgerPage{l: l.now, theme: l.draw.Theme, zone: l.clock().Location(), w: w}
	p.part((*ledgerPage).whole)
	p.part((*ledgerPage).sources)
	p.part((*ledgerPage).used)
	p.part((*ledgerPage).changes)
	return p.rows, p.marks
}

// ledgerPage lays the pane out.
type ledgerPage struct {
	l     session.Ledger
	theme *draw.Theme
	zone  *time.Location
	w     int
	rows  []draw.Row
	marks []int
}

// part adds a part of the page, with an empty row before it.
func (p *ledgerPage) part(add func(*ledgerPage)) {
	before := len(p.rows)
	if before > 0 {
		p.line(draw.Plain, "")
	}
	at := len(p.rows)
	if add(p); len(p.rows) == at {
		p.rows = p.rows[:before]
		return
	}
	p.marks = append(p.marks, at)
}

func (p *ledgerPage) line(s draw.Style, text string) {
	p.rows = append(p.rows, p.theme.Line(s, safeterm.Name(text)).Fit(p.w))
}

// wrapped is a line that may take several rows.
func (p *ledgerPage) wrapped(s draw.Style, text string) {
	hang := p.theme.Pen().Fixed(draw.Plain, "  ").Done()
	p.rows = p.theme.Wrap(p.rows, p.w, draw.Margins{Rest: hang}, draw.Span{Style: s, Text: safeterm.Name(text)})
}

// whole is how much of the window the next request takes, and what the numbers are.
func (p *ledgerPage) whole() {
	if percent, known := p.l.Fill(); known {
		style := draw.Accent
		switch {
		case percent >= 95:
			style = draw.Bad
		case percent >= 80:
			style = draw.Warn
		}
		full := min(p.w-8, 60)
		n := min(max(full*percent/100, 1), full)
		p.rows = append(p.rows, p.theme.Pen().Fixed(style, strings.Repeat("█", n)).Fixed(draw.Border, strings.Repeat("░", full-n)).
			Fixed(draw.Plain, fmt.Sprintf(" %d%%", percent)).Done().Fit(p.w))
	} else {
		p.line(draw.Dim, "context limit unknown")
	}
	p.wrapped(draw.Dim, p.l.Basis())
	if p.l.Last == nil {
		return
	}
	sent, _ := p.l.Last.Sent()
	p.wrapped(draw.Plain, "newest request: "+ui.Thousands(sent)+" tokens by the provider's count"+cached(*p.l.Last))
}

// cached says how much of a request came from the provider's cache.
func cached(u session.Usage) string {
	sent, _ := u.Sent()
	if sent == 0 || u.CacheRead == 0 {
		return ", none from its cache"
	}
	return fmt.Sprintf(", %d%% from its cache", int(100*float64(u.CacheRead)/float64(sent)))
}

// topSources is how many sources of a group have a row of their own; the rest shares one. Those of
// the system prompt all have one: it is where instructions are looked for.
const topSources = 6

// sources is what the next request holds, by group and within it, the largest first.
func (p *ledgerPage) sources() {
	total := 0
	for _, s := range p.l.Sources {
		total += s.Tokens
	}
	for group := range slices.Values([]session.Group{session.SystemGroup, session.ToolsGroup, session.MessagesGroup, session.ResultsGroup}) {
		var list []session.Source
		sum := 0
		for _, s := range p.l.Sources {
			if s.Group == group {
				list, sum = append(list, s), sum+s.Tokens
			}
		}
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(a, b session.Source) int { return b.Tokens - a.Tokens })
		p.bar(draw.Bold, groupNames(group, len(list)), sum, total)
		rest := 0
		for i, s := range list {
			if i < topSources || len(list) == topSources+1 || group == session.SystemGroup { // each instruction file is seen

				p.bar(draw.Plain, "  "+s.Name, s.Tokens, total)
			} else {
				rest += s.Tokens
			}
		}
		if rest > 0 {
			p.bar(draw.Dim, "  "+plural.Of(len(list)-topSources, "other"), rest, total)
		}
	}
}

func groupNames(g session.Group, n int) string {
	switch g {
	case session.SystemGroup:
		return "system prompt"
	case session.ToolsGroup:
		return fmt.Sprintf("tools (%d)", n)
	case session.MessagesGroup:
		return "messages"
	}
	return "results of tools"
}

// bar is one source: name, tokens, share, and the share as a length.
func (p *ledgerPage) bar(s draw.Style, name string, tokens, total int) {
	share := float64(tokens) / float64(max(total, 1))
	label := p.theme.Line(s, safeterm.Name(name)).Fit(26)
	most := min(p.w-42, 50)
	n := int(share*float64(most) + 0.5)
	p.rows = append(p.rows, p.theme.Pen().Row(label).Pad(28).
		Fixed(draw.Plain, fmt.Sprintf("%7s %3.0f%% ", ui.Thousands(tokens), 100*share)).
		Fixed(draw.Accent, strings.Repeat("█", max(n, 0))).Done().Fit(p.w))
}

// used is what the requests so far used and cost, by model.
func (p *ledgerPage) used() {
	if len(p.l.Used) == 0 {
		return
	}
	columns := []string{"input", "output", "cost", "cached", "requests", "written"} // the most important first
	fits := min(max((p.w-16)/9, 1), len(columns))
	columns = columns[:fits]
	name := max(min(p.w-9*fits, 40), 8)
	row := func(s draw.Style, first string, cell func(column string) string) {
		pen := p.theme.Pen().Row(p.theme.Line(s, safeterm.Name(first)).Fit(name - 1)).Pad(name)
		for _, c := range []string{"requests", "input", "cached", "written", "output", "cost"} {
			if slices.Contains(columns, c) {
				pen.Put(s, safeterm.Name(fmt.Sprintf("%9s", cell(c))))
			}
		}
		p.rows = append(p.rows, pen.Done().Fit(p.w))
	}
	row(draw.Dim, "used in this session", func(c string) string { return c })
	for _, u := range p.l.Used {
		row(draw.Plain, strings.Trim(u.Model, "/"), func(c string) string { return useOf(u, c) })
	}
	switch {
	case p.l.Cost != nil:
		p.line(draw.Plain, "in all "+ui.Dollars(*p.l.Cost))
	default:
		p.wrapped(draw.Dim, "cost unknown: a request has no price or no count")
	}
}

// useOf is one cell of the table.
func useOf(u session.ModelUse, column string) string {
	switch column {
	case "requests":
		if u.Requests == 0 {
			return "?"
		}
		return fmt.Sprint(u.Requests)
	case "input":
		return ui.Thousands(u.Usage.Input)
	case "cached":
		return ui.Thousands(u.Usage.CacheRead)
	case "written":
		return ui.Thousands(u.Usage.CacheWrite)
	case "output":
		return ui.Thousands(u.Usage.Output)
	}
	if u.Cost == nil {
		return "?"
	}
	return ui.Dollars(*u.Cost)
}

// changes is when and why a request did not begin with the one before, the newest first.
func (p *ledgerPage) changes() {
	if len(p.l.Changes) == 0 {
		return
	}
	p.wrapped(draw.Dim, plural.Of(len(p.l.Changes), "request")+" did not begin like the one before, so the provider's cache missed")
	for _, c := range slices.Backward(p.l.Changes) {
		style, mark := draw.Plain, ""
		if !c.Expected {
			style, mark = draw.Warn, "unexpected: "
		}
		p.wrapped(style, c.Time.In(p.zone).Format("15:04")+" "+mark+c.String())
	}
}
