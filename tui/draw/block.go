package draw

import (
	"cmp"
	"strconv"
	"strings"

	"adze/internal/text/highlight"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tool"
)

// Show limits a block's rows.
type Show struct {
	// Rows is the maximum number of rows; 0 means all. One more row counts the omitted ones.
	// Command output keeps its end, everything else its beginning.
	Rows int
	// Whole wraps long lines; otherwise they are truncated.
	Whole bool
	// Titles draws the block's title or path above it.
	Titles bool
}

// Blocks appends several blocks to dst; the limit applies to each.
func (t *Theme) Blocks(dst []Row, blocks []tool.Block, w int, show Show) []Row {
	show.Titles = show.Titles || len(blocks) > 1
	for _, b := range blocks {
		dst = t.Block(dst, b, w, show)
	}
	return dst
}

// Block appends a block's rows to dst. An unknown kind is drawn as text.
func (t *Theme) Block(dst []Row, b tool.Block, w int, show Show) []Row {
	if title := cmp.Or(b.Title, b.Path); show.Titles && title != "" {
		dst = append(dst, t.Line(Bold, safeterm.Name(title)).Fit(w))
	}
	d := blockDrawer{theme: t, w: w, show: show, rows: dst, start: len(dst)}
	switch b.Kind {
	case tool.CodeBlock:
		d.code(b)
	case tool.DiffBlock:
		d.diff(b)
	case tool.ListBlock, tool.ChecklistBlock:
		d.items(b.Items)
	case tool.OutputBlock:
		d.output(b)
	case tool.MarkdownBlock:
		d.prose(b)
	default:
		d.text(b)
	}
	return d.rows
}

type blockDrawer struct {
	theme *Theme
	w     int
	show  Show
	rows  []Row
	start int // len(rows) before the block
}

// full reports whether the row limit is reached.
func (d *blockDrawer) full() bool { return d.show.Rows > 0 && len(d.rows)-d.start >= d.show.Rows }

// addOmitted adds a row that counts omitted items.
func (d *blockDrawer) addOmitted(n int, what string) {
	if n <= 0 {
		return
	}
	text := "… " + plural.Thousands(n) + " more"
	if what != "more" {
		text = "… " + plural.Grouped(n, what)
	}
	d.rows = append(d.rows, d.theme.Pen().Fixed(Dim, text).Done().Fit(d.w))
}

// line draws one code or output line without tabs.
func (d *blockDrawer) line(margin Row, spans ...Span) {
	if d.show.Whole {
		rest := d.theme.Pen().Pad(margin.w).Done()
		d.rows = d.theme.Wrap(d.rows, d.w, Margins{First: margin, Continuation: rest, Hard: true}, spans...)
		return
	}
	p := d.theme.Pen().Row(margin)
	line := join(spans)
	line.put(p, 0, len(line.text))
	d.rows = append(d.rows, p.Done().Fit(d.w))
}

// lines calls draw for each line up to the row limit.
func (d *blockDrawer) lines(text string, draw func(i int, line string)) {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return
	}
	for i := 0; ; i++ {
		if d.full() {
			d.addOmitted(strings.Count(text, "\n")+1, "more line")
			return
		}
		line, rest, found := strings.Cut(text, "\n")
		draw(i, strings.TrimSuffix(line, "\r"))
		if !found {
			return
		}
		text = rest
	}
}

func (d *blockDrawer) text(b tool.Block) {
	d.lines(safeterm.Clean(b.Text).String(), func(_ int, line string) {
		d.rows = d.theme.Wrap(d.rows, d.w, Margins{}, Span{Plain, safeterm.Clean(line)})
	})
}

func (d *blockDrawer) prose(b tool.Block) {
	var p Prose
	p.Add(b.Text)
	p.End()
	rows := p.Rows(d.theme, d.w)
	shown := len(rows)
	if d.show.Rows > 0 {
		shown = min(shown, d.show.Rows)
	}
	d.rows = append(d.rows, rows[:shown]...)
	d.addOmitted(len(rows)-shown, "more row")
}

func (d *blockDrawer) code(b tool.Block) {
	digits := 0
	if b.Line > 0 {
		digits = len(strconv.Itoa(b.Line + strings.Count(b.Text, "\n")))
	}
	shown, _ := firstLines(b.Text, d.show.Rows)
	shown = untabbed(safeterm.Reveal(shown).String())
	lines := painted(highlight.ForFile(b.Path), shown)
	d.lines(b.Text, func(i int, _ string) {
		margin := d.theme.Pen()
		if digits > 0 {
			n := strconv.Itoa(b.Line + i)
			margin.Pad(digits-len(n)).Fixed(Dim, n).Pad(digits + 2)
		}
		d.line(margin.Done(), lines[i]...)
	})
}

func (d *blockDrawer) items(items []tool.Item) {
	for i, it := range items {
		if d.full() {
			d.addOmitted(len(items)-i, "more")
			return
		}
		d.rows = d.theme.Item(d.rows, it, d.w, d.show.Whole)
	}
}

// Item appends a list item to dst, as one row or, if whole, wrapped.
func (t *Theme) Item(dst []Row, it tool.Item, w int, whole bool) []Row {
	mark, style := itemMark(it.State)
	first := t.Pen().Fixed(style, mark).Done()
	text := []Span{{itemStyle(it.State), safeterm.Name(it.Text)}}
	if it.Note != "" {
		text = append(text, Span{Dim, safeterm.Name("  " + it.Note)})
	}
	if !whole {
		p := t.Pen().Row(first)
		for _, s := range text {
			p.Put(s.Style, s.Text)
		}
		return append(dst, p.Done().Fit(w))
	}
	return t.Wrap(dst, w, Margins{First: first, Continuation: t.Pen().Pad(first.w).Done()}, text...)
}

func itemMark(state string) (string, Style) {
	switch state {
	case "pending":
		return "○ ", Dim
	case "in_progress":
		return "▸ ", Accent
	case "completed":
		return "✓ ", Good
	case "cancelled":
		return "✗ ", Dim
	}
	return "", Plain
}

func itemStyle(state string) Style {
	switch state {
	case "in_progress":
		return Bold
	case "completed", "cancelled":
		return Dim
	}
	return Plain
}

// output draws a command's output, limited to its last lines.
func (d *blockDrawer) output(b tool.Block) {
	text := strings.TrimRight(safeterm.Output(b.Text).String(), "\n")
	if text == "" {
		return
	}
	shown, hidden := lastLines(text, d.show.Rows)
	d.addOmitted(max(hidden, b.Total-strings.Count(shown, "\n")-1), "earlier line")
	for line := range strings.SplitSeq(shown, "\n") {
		d.line(Row{}, Span{Plain, safeterm.Clean(flat(line, 0))})
	}
}

// lastLines returns the last n lines (0: all) and the number of lines before them.
func lastLines(s string, n int) (last string, before int) {
	if n == 0 {
		return s, 0
	}
	at := len(s)
	for range n {
		i := strings.LastIndexByte(s[:at], '\n')
		if i < 0 {
			return s, 0
		}
		at = i
	}
	return s[at+1:], strings.Count(s[:at], "\n") + 1
}

// firstLines splits s after n lines (0: all).
func firstLines(s string, n int) (first, rest string) {
	if n == 0 {
		return s, ""
	}
	at := 0
	for range n {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return s, ""
		}
		at += i + 1
	}
	return s[:at], s[at:]
}
