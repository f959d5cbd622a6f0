package permission

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"adze/internal/stream/ask"
	"adze/internal/text/safeterm"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// Body returns the question's layout: nothing is truncated, and hidden characters are written out.
func (p *Dialog) Body(w int) ui.Sheaf {
	if p.layout == nil || p.w != w {
		if p.w != w { // rows differ now
			p.rowsSeen = min(p.rowsSeen, p.scrolled)
		}
		p.layout, p.w = p.lay(w), w
	}
	return p.layout
}

func (p *Dialog) lay(w int) ui.Sheaf {
	if p.hunks != nil {
		return p.layHunks(w)
	}
	a := p.queue[0]
	var rows ui.RenderedPage
	for _, n := range a.Question.Needs {
		rows = p.need(rows, n, w)
	}
	why := a.Why
	if p.beside(w) != "" {
		why = ""
	}
	for _, warning := range warnings(a, why) {
		rows = p.theme.Wrap(rows, w, draw.Margins{}, draw.Span{Style: draw.Warn, Text: safeterm.Name(warning)})
	}
	rows = p.repaired(rows, a.Question.Repair, w)
	body := ui.Sheaf{rows}
	p.ruleAt = body.Len()
	switch {
	case p.Grants():
		body = append(body, ui.RenderedPage(p.rule(gap(w), w)))
	case a.NoOffer != "" && !p.Stage():
		body = append(body, ui.RenderedPage(p.theme.Wrap(gap(w), w, p.under(), draw.Span{Style: draw.Dim, Text: safeterm.Name("no rule: " + a.NoOffer)})))
	}
	p.decisive = body.Len()
	if shown := worthSeeing(a); len(shown) > 0 {
		body = append(body, ui.RenderedPage{draw.Row{}})
		for _, b := range shown {
			body = append(body, p.preview(b, w)...)
		}
	}
	return body
}

// worthSeeing returns the preview blocks that show more than the needs; it drops a command's empty
// output.
func worthSeeing(a *Asked) []tool.Block {
	runs := slices.ContainsFunc(a.Question.Needs, func(n tool.Need) bool { return n.Permission == tool.Execute && n.Reach == "" })
	return slices.DeleteFunc(slices.Clone(a.Preview), func(b tool.Block) bool {
		return runs && b.Kind == tool.OutputBlock && b.Text == "" && len(b.Items) == 0
	})
}

// preview shows the call's effect. Only a diff's visible rows are drawn.
func (p *Dialog) preview(b tool.Block, w int) ui.Sheaf {
	if b.Kind != tool.DiffBlock {
		return ui.Sheaf{ui.RenderedPage(p.theme.Block(nil, b, w, draw.Show{Whole: true, Titles: true}))}
	}
	head := p.theme.Pen().Put(draw.Bold, safeterm.Name(cmp.Or(b.Title, b.Path)))
	if b.Title == "" { // a title already has the counts
		added, removed := draw.Count(b.Text)
		head.Put(draw.Dim, safeterm.Name("  "+ui.PlusMinus(added, removed)))
	}
	patch := p.theme.Patch(b, w, w >= ui.Split)
	if p.names(b.Path) {
		return ui.Sheaf{patch}
	}
	return ui.Sheaf{ui.RenderedPage{head.Done().Fit(w)}, patch}
}

// counts returns a file's changed lines if its diff below has no heading.
func (p *Dialog) counts(n tool.Need) draw.Span {
	if !p.names(n.Touches()) {
		return draw.Span{}
	}
	added, removed := draw.Count(p.diffs()[0].Text)
	return draw.Span{Style: draw.Dim, Text: safeterm.Name("  " + ui.PlusMinus(added, removed))}
}

// names reports whether the question is only about changing this file.
func (p *Dialog) names(path string) bool {
	needs := p.queue[0].Question.Needs
	return path != "" && len(needs) == 1 && needs[0].Permission == tool.Write && needs[0].Touches() == path && len(p.diffs()) == 1 && p.diffs()[0].Path == path
}

// rule draws the offered rule's meaning, its text, and its exceptions.
func (p *Dialog) rule(rows []draw.Row, w int) []draw.Row {
	o := p.Offer()
	lead, rule := "rule: ", strings.ReplaceAll(strings.ReplaceAll(o.Rule, "\nallow ", "\n"), "\n", ", ")
	indent := p.theme.Pen().Pad(2).Done()
	spans := []draw.Span{{Style: draw.Dim, Text: safeterm.Name(lead)}}
	own := draw.Span{Style: draw.Dim, Text: safeterm.Name(strings.TrimPrefix(rule, "allow "))}
	covers := draw.Span{Style: draw.Plain, Text: safeterm.Name("allow " + o.Covers)}
	beside := p.theme.Line(draw.Plain, safeterm.Concat(safeterm.Name(lead), covers.Text, own.Text)).Width()+2 <= w
	switch {
	case o.Covers == "":
		rows = p.theme.Wrap(rows, w, p.under(), append(spans, draw.Span{Style: draw.Plain, Text: safeterm.Name(rule)})...)
	case beside:
		rows = p.theme.Wrap(rows, w, p.under(), append(spans, covers, draw.Span{Text: safeterm.Fixed("  ")}, own)...)
	default: // on its own row, to keep it in one piece
		rows = p.theme.Wrap(rows, w, p.under(), append(spans, covers)...)
		rows = p.theme.Wrap(rows, w, draw.Margins{First: indent, Continuation: indent}, own)
	}
	if text := rest(o, p.grants()[p.grant].choice); text != "" {
		rows = p.theme.Wrap(rows, w, draw.Margins{First: indent, Continuation: indent}, draw.Span{Style: draw.Dim, Text: safeterm.Name(text)})
	}
	return rows
}

// gap returns an empty row before the rule; a narrow window has none.
func gap(w int) []draw.Row {
	if w < ui.Narrow {
		return nil
	}
	return []draw.Row{{}}
}

// under returns margins that indent continuation rows.
func (p *Dialog) under() draw.Margins { return draw.Margins{Continuation: p.theme.Pen().Pad(2).Done()} }

// rest returns a grant's duration and exceptions.
func rest(o ask.Offer, c ask.Choice) string {
	parts := []string{"for this session"}
	if c == ask.Always {
		parts = []string{"kept in " + o.Save}
		if o.Saved != "" {
			parts = append(parts, "where "+o.Saved)
		}
	}
	if o.Spares != "" {
		parts = append(parts, "still asked: "+o.Spares)
	}
	return strings.Join(parts, " · ")
}

// Title returns the question for the first row.
func (a *Asked) Title() string {
	has := map[tool.Permission]int{}
	for _, n := range a.Question.Needs {
		if n.Reach == tool.OwnStage {
			return "Take over the changes of this turn?"
		}
		if n.Reach != "" {
			return "Allow this call of " + a.Question.Tool.Name + "?"
		}
		if has[n.Permission]++; n.OutsideReason != "" {
			return "Run this command outside the sandbox?"
		}
	}
	switch total := len(a.Question.Needs); {
	case has[tool.Execute] > 0:
		return "Run this command?"
	case total == 0 || has[tool.Write] != total && has[tool.Read] != total && has[tool.Network] != total:
		return "Allow this call of " + a.Question.Tool.Name + "?"
	case has[tool.Write] == 1:
		return "Edit this file?"
	case has[tool.Write] > 1:
		return "Edit these files?"
	case has[tool.Read] == 1:
		return "Read this?"
	case has[tool.Read] > 1:
		return "Read these?"
	case total > 1:
		return "Open these addresses?"
	}
	return "Open this address?"
}

// label returns the word for a need; a single command has only a prompt sign.
func (p *Dialog) label(n tool.Need) (word string, width int) {
	if n.Permission == tool.Execute && n.Reach == "" && len(p.queue[0].Question.Needs) == 1 {
		return "$", 2
	}
	word = map[tool.Permission]string{tool.Execute: "run", tool.Write: "edit", tool.Read: "read", tool.Network: "open"}[n.Permission]
	return cmp.Or(word, string(n.Permission)), 6
}

// need draws a need's target. A command's lines are numbered, so that a wrapped line does not look
// like two. In other targets a newline is written out, so that a path cannot look like two.
func (p *Dialog) need(rows []draw.Row, n tool.Need, w int) []draw.Row {
	word, width := p.label(n)
	first := p.theme.Pen().Put(draw.Bold, safeterm.Name(word)).Fixed(draw.Plain, " ").Pad(width).Done()
	rest := p.theme.Pen().Pad(first.Width()).Done()
	target := safeterm.Name(n.Touches())
	if n.Permission == tool.Execute && n.Reach == "" {
		target = safeterm.Reveal(strings.TrimRight(n.Target, "\n"))
	}
	lines := target.Lines()
	digits := len(strconv.Itoa(len(lines)))
	for i, line := range lines {
		margins := draw.Margins{First: first, Continuation: rest, Hard: true}
		if len(lines) > 1 {
			number := strconv.Itoa(i + 1)
			margins.First = p.theme.Pen().Row(first).Pad(first.Width()+digits-len(number)).Fixed(draw.Dim, number+" ").Done()
			margins.Continuation = p.theme.Pen().Pad(margins.First.Width()).Done()
		}
		rows = p.theme.Wrap(rows, w, margins, draw.Span{Style: draw.Plain, Text: line}, p.counts(n))
		first = rest
	}
	under := draw.Margins{First: rest, Continuation: rest, Hard: true}
	if real := p.queue[0].Resolved[n]; real != "" {
		rows = p.theme.Wrap(rows, w, under, draw.Span{Style: draw.Dim, Text: safeterm.Name("really " + real)})
	}
	switch {
	case n.Dir == "" || n.Dir == ".":
	case n.Dir == p.cwd:
		rows = p.theme.Wrap(rows, w, under, draw.Span{Style: draw.Dim, Text: safeterm.Name("in " + n.Dir)})
	default:
		rows = p.theme.Wrap(rows, w, under, draw.Span{Style: draw.Warn, Text: safeterm.Name("in " + n.Dir + " · not the workspace folder")})
	}
	return rows
}
