package draw

import (
	"cmp"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"adze/internal/text/highlight"
	"adze/internal/text/safeterm"
	"adze/tool"
)

// diffLine is a line of a unified diff.
type diffLine struct {
	style    Style
	sign     string // +, - or a space; "" if it has none
	text     string
	old, now int // line number on each side; 0 if absent
	pair     int // offset to the line it replaces or is replaced by; 0 if none
}

// readDiff parses a diff. It skips the two file name lines if b.Path is set.
func readDiff(b tool.Block) (lines []diffLine) {
	body := b.Text
	if at := strings.Index("\n"+body, "\n@@"); at > 0 && b.Path != "" {
		body = body[at:]
	}
	if body = strings.TrimSuffix(body, "\n"); body == "" {
		return nil
	}
	lines = make([]diffLine, 0, strings.Count(body, "\n")+1)
	old, now, inHunk := 0, 0, false
	for line := range strings.SplitSeq(body, "\n") {
		l := diffLine{text: strings.TrimSuffix(line, "\r")}
		switch {
		case strings.HasPrefix(line, "@@"):
			l.style, inHunk = Hunk, true
			old, now = hunkStarts(line)
		case strings.HasPrefix(line, "+"):
			l.style = Added
		case strings.HasPrefix(line, "-"):
			l.style = Removed
		case strings.HasPrefix(line, `\`):
			l.style = Dim
		}
		if l.text != "" && strings.IndexByte("+- ", line[0]) >= 0 {
			l.sign, l.text = line[:1], l.text[1:]
		}
		if inHunk && (l.style == Plain || l.style == Removed) {
			l.old, old = old, old+1
		}
		if inHunk && (l.style == Plain || l.style == Added) {
			l.now, now = now, now+1
		}
		lines = append(lines, l)
	}
	pair(lines)
	return lines
}

// pair matches removed lines with the added lines that replace them: line by line within adjacent
// runs.
func pair(lines []diffLine) {
	run := func(at int, s Style) int {
		end := at
		for end < len(lines) && lines[end].style == s {
			end++
		}
		return end - at
	}
	for at := 0; at < len(lines); {
		gone := run(at, Removed)
		come := run(at+gone, Added)
		for i := range min(gone, come) {
			lines[at+i].pair, lines[at+gone+i].pair = gone, -gone
		}
		at += max(gone+come, 1)
	}
}

// hunkStarts parses "@@ -12,5 +14,6 @@"; it returns 1 for numbers it cannot parse.
func hunkStarts(line string) (old, now int) {
	var from, to string
	if _, err := fmt.Sscanf(line, "@@ %s %s", &from, &to); err != nil {
		return 1, 1
	}
	return hunkStart(from), hunkStart(to)
}

func hunkStart(s string) int {
	at, _, _ := strings.Cut(strings.TrimLeft(s, "+-"), ",")
	n, err := strconv.Atoi(at)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// Count returns the number of added and removed lines in a unified diff.
func Count(diff string) (added, removed int) {
	inHunk := false
	for line := range strings.SplitSeq(diff, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case !inHunk: // the two header lines begin with +++ and ---
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// Patch is a unified diff laid out for one width. Long lines wrap. Only requested rows are drawn,
// so even a long diff opens at once.
type Patch struct {
	theme  *Theme
	lang   highlight.Language
	w      int
	lines  []diffLine
	places []place
	ends   []int // row number after each place
	wide   int   // width for line numbers
}

// place is one line over the whole width, or the old and the new line side by side.
type place struct {
	l, r int // indexes in Patch.lines; negative if absent
	pair bool
}

// Patch lays out a diff: unified with line numbers or, if split, with old lines at the left and
// their replacements at the right.
func (t *Theme) Patch(b tool.Block, w int, split bool) *Patch {
	p := &Patch{theme: t, w: w, lang: highlight.ForFile(b.Path), lines: readDiff(b)}
	added, removed := Count(b.Text)
	p.arrange(split && added > 0 && removed > 0)
	p.ends = make([]int, len(p.places))
	total := 0
	for i, at := range p.places {
		total += p.height(at)
		p.ends[i] = total
	}
	return p
}

// arrange decides which lines share a place.
func (p *Patch) arrange(split bool) {
	inHunk := false
	for i, l := range p.lines {
		p.wide = max(p.wide, len(strconv.Itoa(max(l.old, l.now))))
		inHunk = inHunk || l.style == Hunk
		switch at := (place{l: i, r: i, pair: true}); {
		case !split || l.style == Hunk || inHunk && l.style == Dim:
			p.places = append(p.places, place{l: i})
		case !inHunk || l.style == Added && l.pair != 0:
		default:
			switch {
			case l.pair != 0:
				at.r = i + l.pair
			case l.style == Removed:
				at.r = -1
			case l.style == Added:
				at.l = -1
			}
			p.places = append(p.places, at)
		}
	}
}

// Len returns the number of rows.
func (p *Patch) Len() int {
	if len(p.ends) == 0 {
		return 0
	}
	return p.ends[len(p.ends)-1]
}

// Append draws rows from..to, which must be within Len.
func (p *Patch) Append(dst []Row, from, to int) []Row {
	i := sort.SearchInts(p.ends, from+1)
	for at := from; at < to && i < len(p.places); i++ {
		start := 0
		if i > 0 {
			start = p.ends[i-1]
		}
		rows := p.draw(p.places[i])
		rows = rows[min(at-start, len(rows)):min(to-start, len(rows))]
		dst, at = append(dst, rows...), p.ends[i]
	}
	return dst
}

// gap separates the sides in a split diff.
const gap = " │ "

func (p *Patch) side() int { return (p.w - 3) / 2 }

func (p *Patch) height(at place) int {
	if !at.pair {
		return p.rowsOf(at.l, p.w, true)
	}
	return max(p.rowsOf(at.l, p.side(), false), p.rowsOf(at.r, p.side(), false))
}

// rowsOf returns how many rows a line needs at width w; hard breaks anywhere, not between words.
// Most lines are ASCII and measured without drawing.
func (p *Patch) rowsOf(at, w int, hard bool) int {
	if at < 0 {
		return 1
	}
	l := p.lines[at]
	if w -= len(l.sign); l.old+l.now > 0 {
		w -= p.wide + 1
	}
	w = max(w, 1)
	col := 0
	for i := 0; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '\t':
			col += tabWidth - col%tabWidth
		case c < ' ' || c >= 0x7f:
			return len(p.theme.Wrap(nil, w, Margins{Hard: hard}, Span{Plain, shown(l.text)}))
		default:
			col++
		}
	}
	if !hard && col > w {
		return len(p.theme.Wrap(nil, w, Margins{}, Span{Plain, shown(l.text)}))
	}
	return max((col+w-1)/w, 1)
}

// shown returns a line with hidden characters made visible and tabs expanded.
func shown(line string) safeterm.Text {
	return safeterm.Clean(flat(safeterm.Reveal(line).String(), 0))
}

func (p *Patch) draw(at place) []Row {
	if !at.pair {
		return p.line(at.l, cmp.Or(p.lines[at.l].now, p.lines[at.l].old), p.w, true)
	}
	var left, right []Row
	if at.l >= 0 {
		left = p.line(at.l, p.lines[at.l].old, p.side(), false)
	}
	if at.r >= 0 {
		right = p.line(at.r, p.lines[at.r].now, p.side(), false)
	}
	rows := make([]Row, 0, max(len(left), len(right)))
	for i := range max(len(left), len(right), 1) {
		pen := p.theme.Pen()
		if i < len(left) {
			pen.Row(left[i])
		}
		pen.Pad(p.side()).Fixed(Border, gap)
		if i < len(right) {
			pen.Row(right[i])
		}
		rows = append(rows, pen.Done())
	}
	return rows
}

// line draws a line in rows w cells wide.
func (p *Patch) line(at, number, w int, hard bool) []Row {
	l := p.lines[at]
	first, rest := p.head(l, number, l.sign), p.theme.Pen()
	if number > 0 {
		rest.Pad(p.wide + 1)
	}
	rest.Fill(groundOf(l.style), first.Width()).Pad(first.Width())
	rows := p.theme.Wrap(nil, w, Margins{First: first.Done(), Continuation: rest.Done(), Hard: hard}, p.spans(at)...)
	p.theme.Grounded(rows, groundOf(l.style), w)
	return rows
}

// head draws a line's number and sign.
func (p *Patch) head(l diffLine, number int, sign string) *Pen {
	pen := p.theme.Pen()
	if number > 0 {
		digits := strconv.Itoa(number)
		pen.Pad(p.wide-len(digits)).Fixed(Dim, digits+" ")
	}
	return pen.Fixed(p.theme.changed(l.style), sign)
}

func groundOf(s Style) Style {
	switch s {
	case Added:
		return OnAdded
	case Removed:
		return OnRemoved
	}
	return 0
}

// changed returns the style for a changed line: with the theme's background for it, if there is
// one. With 256 colors the background replaces the text color.
func (t *Theme) changed(s Style) Style {
	g := groundOf(s)
	if g != 0 && t.backgrounds[g.backgroundIndex()] != "" && !t.tinted {
		return g
	}
	return s | g
}

// spans returns a line's styled text. On a tinted background a changed line keeps its highlighting;
// otherwise color marks the change, and attributes mark the syntax. Differences from the paired
// line are underlined. A very long line has one style.
func (p *Patch) spans(at int) (spans []Span) {
	l, t := p.lines[at], p.theme
	text := shown(l.text)
	if l.style == Hunk || text.Len() == 0 || text.Len() > maxHighlight {
		return []Span{{t.changed(l.style), text}}
	}
	from, to := 0, 0
	if l.pair != 0 {
		from, to = differs(text.String(), shown(p.lines[at+l.pair].text).String())
	}
	pos := 0
	for _, tok := range p.lang.Tokens(text.String()) {
		style := tokenStyle(tok.Kind)
		switch {
		case l.style == Plain:
		case t.tinted:
			style |= groundOf(l.style)
		default:
			style = t.changed(l.style) | changedStyle(tok.Kind)
		}
		for rest := tok.Text; rest != ""; {
			n, s := len(rest), style
			switch {
			case pos < from:
				n = min(n, from-pos)
			case pos < to:
				n, s = min(n, to-pos), style|Underlined
			}
			spans = append(spans, Span{s, safeterm.Clean(rest[:n])})
			rest, pos = rest[n:], pos+n
		}
	}
	return spans
}

func changedStyle(k highlight.Kind) Style {
	switch k {
	case highlight.Keyword:
		return Strong
	case highlight.Comment:
		return Slanted
	}
	return 0
}

// differs returns the range of x that differs from y, between the common prefix and suffix, in
// whole words. It returns 0, 0 if less than half is shared.
func differs(x, y string) (from, to int) {
	for from < min(len(x), len(y)) && x[from] == y[from] {
		from++
	}
	for from > 0 && (inWord(x, from) || inWord(y, from)) {
		from--
	}
	end := 0
	for end < min(len(x), len(y))-from && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	for end > 0 && (inWord(x, len(x)-end) || inWord(y, len(y)-end)) {
		end--
	}
	shared := len(strings.TrimLeft(x[:from], " ")) + end
	if shared*2 < max(len(strings.TrimLeft(x, " ")), len(strings.TrimLeft(y, " "))) {
		return 0, 0
	}
	return from, len(x) - end
}

// inWord reports whether offset i is inside a word or a character.
func inWord(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	return !utf8.RuneStart(s[i]) || i > 0 && wordByte(s[i-1]) && wordByte(s[i])
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b >= 0x80
}

// Changed appends a unified diff's changed lines with their numbers.
func (t *Theme) Changed(dst []Row, b tool.Block, w int, brief Brief) []Row {
	p := &Patch{theme: t, lang: highlight.ForFile(b.Path), lines: readDiff(b)}
	added, removed := Count(b.Text)
	if added+removed == brief.Rows+1 { // the count would take the same row as the last line
		brief.Rows++
	}
	var chosen []int
	for i, l := range p.lines {
		if groundOf(l.style) != 0 && l.old+l.now > 0 && len(chosen) < brief.Rows {
			chosen = append(chosen, i)
			p.wide = max(p.wide, len(strconv.Itoa(l.old+l.now)))
		}
	}
	for _, i := range chosen {
		l := p.lines[i]
		pen := p.head(l, l.old+l.now, l.sign+" ")
		for _, s := range p.spans(i) {
			pen.Put(s.Style, s.Text)
		}
		rows := []Row{pen.Done().Fit(w)}
		t.Grounded(rows, groundOf(l.style), w)
		dst = append(dst, rows...)
	}
	return t.rest(dst, added+removed-len(chosen), brief, w)
}

func (d *blockDrawer) diff(b tool.Block) {
	p := d.theme.Patch(b, d.w, false)
	if len(b.Text) > maxHighlight {
		p.lang = highlight.Language{}
	}
	shown := p.Len()
	if d.show.Rows > 0 {
		shown = min(shown, d.show.Rows)
	}
	d.rows = p.Append(d.rows, 0, shown)
	d.addOmitted(p.Len()-shown, "more row")
}
