package transcript

import (
	"slices"
	"strings"

	"adze/internal/text/safeterm"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// Row limits below an ended call's heading, until the user expands it.
const (
	successRows = 1
	failureRows = 3
	changeRows  = 8
	createdRows = 3 // a new file: all lines are added
	ownOutput   = 8 // the user's own command
)

// whole draws an expanded call's full object and note if the heading truncates them.
func (e *callEntry) whole(d *ui.Drawing, w int) (rows []draw.Row) {
	h := e.head()
	if !d.Expanded || h.Object == "" {
		return nil
	}
	if !h.MultiLine() && len(h.Verb)+len(h.Object)+6 < w/2 {
		return nil
	}
	gutter := d.Theme.Pen().Fixed(draw.Border, "  ┃ ").Done()
	for _, line := range safeterm.Clean(strings.TrimSpace(h.Object)).Lines() {
		rows = d.Theme.Wrap(rows, w, draw.Margins{First: gutter, Continuation: gutter, Hard: true}, draw.Span{Style: draw.Bold, Text: line})
	}
	if h.Note != "" {
		rows = d.Theme.Wrap(rows, w, draw.Margins{First: gutter, Continuation: gutter}, draw.Span{Style: draw.Dim, Text: safeterm.Name(h.Note)})
	}
	return rows
}

// blocks returns the blocks from the call's metadata.
func (e *callEntry) blocks(d *ui.Drawing) []tool.Block {
	if e.metadata == nil || d.Blocks == nil {
		return nil
	}
	return d.Blocks(e.name, e.metadata)
}

// following draws a running call's last output, with a constant height so that nothing moves.
func (e *callEntry) following(d *ui.Drawing, w int) []draw.Row {
	follows := e.started && e.heading.Shape == tool.Live
	if e.live != nil && e.liveW == w {
		return e.live
	}
	gutter := d.Theme.Pen().Fixed(draw.Border, "  │ ").Done()
	var own []draw.Row
	for _, c := range e.subagentCalls[max(0, len(e.subagentCalls)-liveRows):] {
		style := draw.Plain
		if c.ended {
			style = draw.Dim
		}
		own = append(own, d.Theme.Pen().Fixed(draw.Accent, "↳ ").Put(style, safeterm.Name(c.text)).Done().Fit(w-gutter.Width()))
	}
	if len(own) == 0 && e.started && e.heading.Shape != tool.OneRow && e.heading.Shape != tool.NoRow {
		for _, b := range e.blocks(d) {
			switch b.Kind {
			case tool.OutputBlock:
				own = d.Theme.Last(own, b, w-gutter.Width(), liveRows)
			case tool.MarkdownBlock: // the permission dialog shows it
			default:
				own = d.Theme.Block(own, b, w-gutter.Width(), draw.Show{Rows: 4 * liveRows})
			}
		}
		own = own[max(0, len(own)-liveRows):]
	}
	if len(own) == 0 && follows {
		text := "no output yet"
		if d.Abort != "" {
			text += " · " + d.Abort + " stops it"
		}
		own = append(own, d.Theme.Line(draw.Dim, safeterm.Name(text)).Fit(w-gutter.Width()))
	}
	for follows && len(own) < liveRows {
		own = append(own, draw.Row{})
	}
	rows := []draw.Row{}
	for _, r := range own {
		rows = append(rows, d.Theme.Pen().Row(gutter).Row(r).Done())
	}
	e.live, e.liveW = rows, w
	return rows
}

// onlyLine returns a successful command's output if it is a single line.
func (e *callEntry) onlyLine(d *ui.Drawing) (line string, only bool) {
	if e.outcome == nil || e.outcome.Status != tool.Completed || e.heading.Shape != tool.Live {
		return "", false
	}
	for _, b := range e.blocks(d) {
		if b.Kind == tool.OutputBlock && b.Total == 1 {
			text := strings.TrimSpace(safeterm.Output(b.Text).String())
			return strings.Join(strings.Fields(text), " "), text != "" && !strings.Contains(text, "\n")
		}
	}
	return "", false
}

// body draws the call's result: in full if expanded, otherwise the most important rows.
func (e *callEntry) body(d *ui.Drawing, w int) []draw.Row {
	blocks := e.blocks(d)
	if d.Expanded {
		rows := d.Theme.Blocks(nil, blocks, w, draw.Show{Whole: true})
		if e.outcome.Status != tool.Completed && len(rows) == 0 {
			rows = d.Theme.Block(rows, tool.Block{Text: e.outcome.Output}, w, draw.Show{Whole: true})
		}
		return e.refusals(d, rows, w)
	}
	if e.outcome.Status == tool.Completed {
		return e.success(d, blocks, w)
	}
	return e.reason(d, blocks, w)
}

// refusals appends the sandbox's refusals.
func (e *callEntry) refusals(d *ui.Drawing, rows []draw.Row, w int) []draw.Row {
	for _, x := range e.outcome.Record.Refused {
		text := "refused: " + x.Kind + " " + x.Name
		if x.Reason != "" {
			text += ", " + x.Reason
		}
		if x.Hint {
			text += " (a guess from the output)"
		}
		rows = d.Theme.Wrap(rows, w, draw.Margins{}, draw.Span{Style: draw.Warn, Text: safeterm.Name(text)})
	}
	return rows
}

func (e *callEntry) brief(d *ui.Drawing, rows int) draw.Brief {
	return draw.Brief{Rows: rows, Key: d.Key()}
}

// success draws one result row, or a change's lines.
func (e *callEntry) success(d *ui.Drawing, blocks []tool.Block, w int) (rows []draw.Row) {
	if e.heading.Shape == tool.OneRow {
		return nil
	}
	changes := 0
	for _, b := range blocks {
		switch {
		case b.Minor:
		case b.Kind == tool.DiffBlock:
			most := changeRows
			if _, removed := draw.Count(b.Text); removed == 0 && strings.Contains(b.Text, "@@ -0,0 ") {
				most = createdRows
			}
			if changes++; len(blocks) > 1 && b.Path != "" && b.Path != e.head().Object {
				rows = append(rows, d.Theme.Line(draw.Bold, safeterm.Name(b.Path)).Fit(w))
			}
			rows = d.Theme.Changed(rows, b, w, e.brief(d, most))
		case b.Kind == tool.OutputBlock:
			switch _, only := e.onlyLine(d); {
			case only, e.silent(b):
			case e.ownCommand:
				rows = d.Theme.Block(rows, b, w, draw.Show{Rows: ownOutput})
			case b.Total == 2: // the heading "2 lines" is less useful than both
				rows = d.Theme.Last(rows, b, w, 2)
			default:
				rows = d.Theme.Last(rows, b, w, successRows)
			}
		case b.Kind == tool.ChecklistBlock: // shown above the prompt
		case e.heading.Verb == "" || changes > 0: // an unknown tool, or a remark about a change
			rows = d.Theme.Block(rows, b, w, draw.Show{Rows: failureRows})
		default:
			first := d.Theme.Block(nil, b, w, draw.Show{Rows: successRows})
			rows = append(rows, first[:min(len(first), successRows)]...)
		}
	}
	return rows
}

// reason draws why a call failed if the heading does not explain it.
func (e *callEntry) reason(d *ui.Drawing, blocks []tool.Block, w int) (rows []draw.Row) {
	o := e.outcome
	for _, b := range blocks {
		switch {
		case b.Kind != tool.OutputBlock || e.silent(b):
		case e.ownCommand:
			rows = d.Theme.Block(rows, b, w, draw.Show{Rows: ownOutput})
		default:
			rows = d.Theme.FailureLines(rows, b, w, e.brief(d, failureRows))
		}
	}
	if len(rows) > 0 {
		return rows
	}
	text := o.Output
	switch {
	case o.Status == tool.Denied && len(o.Record.Decisions) > 0:
		text = refusal(o.Record.Decisions)
	case o.Status == tool.Aborted, e.explained():
		return nil
	}
	return d.Theme.FailureLines(nil, tool.Block{Text: text}, w, e.brief(d, failureRows))
}

// silent reports whether a command printed nothing: the heading shows its result.
func (e *callEntry) silent(b tool.Block) bool { return b.Total == 0 && e.heading.Verb != "" }

// explained reports whether the error code's text is enough for a user. The other output is advice
// for the model.
func (e *callEntry) explained() bool {
	return slices.Contains([]string{tool.CodeNotFound, tool.CodeIsDirectory, tool.CodeBinary, tool.CodeTooLarge, tool.CodeStale, tool.CodeNotRead,
		tool.CodeNoMatch, tool.CodeManyMatches, tool.CodeNoChange, tool.CodeAborted}, e.outcome.Code)
}

// refusal returns the user's reason for a denial, or the rule's.
func refusal(all []tool.Decision) string {
	for _, d := range slices.Backward(all) {
		switch {
		case d.Allow:
		case d.Reply != "":
			return "“" + d.Reply + "”"
		case !d.Asked: // otherwise the heading shows it
			return d.Reason
		}
	}
	return ""
}
