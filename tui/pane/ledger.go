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

// Ledger is the context pane: the model's context and its contents, the usage, and cache misses at
// the provider. It only draws the session's counts.
type Ledger struct {
	draw  *ui.Drawing
	clock func() time.Time // for its time zone
	now   session.Ledger
}

// NewLedger returns an empty pane; times are shown in clock's zone.
func NewLedger(d *ui.Drawing, clock func() time.Time) *Ledger {
	return &Ledger{draw: d, clock: clock}
}

// Apply stores the latest count.
func (l *Ledger) Apply(e session.Event) {
	if c, ok := e.(session.Counted); ok {
		l.now = c.Ledger
	}
}

// Heading implements sheet.
func (l *Ledger) Heading() string {
	text := "context · about " + ui.Thousands(l.now.Estimate)
	if l.now.Window > 0 {
		text += " of " + ui.FormatSize(l.now.Window)
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

// ledgerPage draws the pane.
type ledgerPage struct {
	l     session.Ledger
	theme *draw.Theme
	zone  *time.Location
	w     int
	rows  []draw.Row
	marks []int
}

// part adds a section after an empty row.
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

// wrapped adds a line that may wrap.
func (p *ledgerPage) wrapped(s draw.Style, text string) {
	hang := p.theme.Pen().Fixed(draw.Plain, "  ").Done()
	p.rows = p.theme.Wrap(p.rows, p.w, draw.Margins{Continuation: hang}, draw.Span{Style: s, Text: safeterm.Name(text)})
}

// whole draws the context window's usage and the basis for the numbers.
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
	sent, _ := p.l.Last.InputTokens()
	p.wrapped(draw.Plain, "newest request: "+ui.Thousands(sent)+" tokens by the provider's count"+cached(*p.l.Last))
}

// cached returns a request's share from the provider's cache.
func cached(u session.Usage) string {
	sent, _ := u.InputTokens()
	if sent == 0 || u.CacheRead == 0 {
		return ", none from its cache"
	}
	return fmt.Sprintf(", %d%% from its cache", int(100*float64(u.CacheRead)/float64(sent)))
}

// topSources is how many sources per group have their own row; the others share one. The system
// prompt lists all, so that each instruction file is visible.
const topSources = 6

// sources draws the next request's contents by group, the largest first.
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
			if i < topSources || len(list) == topSources+1 || group == session.SystemGroup { // show each instruction file

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

// bar draws one source: name, tokens, share and bar.
func (p *ledgerPage) bar(s draw.Style, name string, tokens, total int) {
	share := float64(tokens) / float64(max(total, 1))
	label := p.theme.Line(s, safeterm.Name(name)).Fit(26)
	most := min(p.w-42, 50)
	n := int(share*float64(most) + 0.5)
	p.rows = append(p.rows, p.theme.Pen().Row(label).Pad(28).
		Fixed(draw.Plain, fmt.Sprintf("%7s %3.0f%% ", ui.Thousands(tokens), 100*share)).
		Fixed(draw.Accent, strings.Repeat("█", max(n, 0))).Done().Fit(p.w))
}

// used draws the usage and cost so far, by model.
func (p *ledgerPage) used() {
	if len(p.l.Used) == 0 {
		return
	}
	columns := []string{"input", "output", "cost", "cached", "requests", "written"} // most important first
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

// useOf returns a table cell.
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

// changes lists requests that did not begin like the previous one, newest first, with the reason.
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
