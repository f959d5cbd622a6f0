package draw

import (
	"sort"
	"strconv"
	"strings"

	"adze/internal/text/highlight"
	"adze/internal/text/safeterm"
	"adze/tool"
)

// Patch is a unified diff laid out for one width. Nothing in it is cut: long lines go on in the
// next row. Only the rows that are asked for are drawn, so a diff of any length is shown at once.
type Patch struct {
	theme *Theme
	lang  highlight.Language
	w     int
	lines []patchLine
	ends  []int // rows up to and with each line
	wide  int   // of the numbers of a unified diff
}

// patchLine is one line of a diff: over the whole width, or an old and a new one side by side.
type patchLine struct {
	whole  string
	style  Style
	number int // unified: in the file as it is, or of a removed line as it was; if 0, none
	other  int // unified: where the line stands, from here, that is in its place; if 0, there is none
	pair   bool
	alike  bool // of a pair: the one is in the other's place
	l, r   cell
}

// Patch lays a diff out: as it is written, each line with its number, or split, with the old lines
// at the left and the new ones at the right.
func (t *Theme) Patch(b tool.Block, w int, split bool) *Patch {
	split = split && twoSided(b.Text)
	p := &Patch{theme: t, w: w, lang: highlight.ForFile(b.Path)}
	if split {
		p.lines = pairs(b.Text)
	} else {
		p.lines = unified(b)
	}
	for _, l := range p.lines {
		p.wide = max(p.wide, len(strconv.Itoa(l.number)))
	}
	p.ends = make([]int, len(p.lines))
	total := 0
	for i := range p.lines {
		total += p.height(&p.lines[i])
		p.ends[i] = total
	}
	return p
}

// twoSided reports a diff in which something came in the place of something else: only then is
// there anything to see at both sides.
func twoSided(diff string) bool {
	added, removed := Count(diff)
	return added > 0 && removed > 0
}

// Len is how many rows the diff takes.
func (p *Patch) Len() int {
	if len(p.ends) == 0 {
		return 0
	}
	return p.ends[len(p.ends)-1]
}

// Append draws the rows from..to, which are within Len.
func (p *Patch) Append(dst []Row, from, to int) []Row {
	i := sort.SearchInts(p.ends, from+1)
	for at := from; at < to && i < len(p.lines); i++ {
		start := 0
		if i > 0 {
			start = p.ends[i-1]
		}
		rows := p.draw(i)
		rows = rows[min(at-start, len(rows)):min(to-start, len(rows))]
		dst, at = append(dst, rows...), p.ends[i]
	}
	return dst
}

func unified(b tool.Block) []patchLine {
	body := strings.TrimSuffix(headless(b), "\n")
	if body == "" {
		return nil
	}
	lines := make([]patchLine, 0, strings.Count(body, "\n")+1)
	old, now, inHunk := 0, 0, false
	for line := range strings.SplitSeq(body, "\n") {
		l := patchLine{whole: strings.TrimSuffix(line, "\r"), style: diffStyle(line)}
		switch {
		case l.style == Hunk:
			old, now = hunkStarts(line)
			inHunk = true
		case !inHunk || strings.HasPrefix(line, `\`):
		case l.style == Removed:
			l.number = old
			old++
		case l.style == Added:
			l.number = now
			now++
		default:
			l.number = now
			old, now = old+1, now+1
		}
		lines = append(lines, l)
	}
	style := func(i int) Style { return lines[i].style }
	replaced(len(lines), style, func(old, now int) { lines[old].other, lines[now].other = now-old, old-now })
	return lines
}

// gap stands between the sides of a split diff.
const gap = " │ "

// margin is the room of a line's number.
func (p *Patch) margin(line *patchLine) int {
	if line.number == 0 {
		return 0
	}
	return p.wide + 1
}

func (p *Patch) side() int { return (p.w - 3) / 2 }

func (p *Patch) height(line *patchLine) int {
	if !line.pair {
		sign, text := signed(line.whole)
		return p.rowsOf(text, p.w-len(sign)-p.margin(line))
	}
	h := 1
	for _, c := range []cell{line.l, line.r} {
		if c.number > 0 {
			h = max(h, p.rowsOfWords(c.text, p.side()-c.margin()))
		}
	}
	return h
}

// rowsOf is how many rows of width w a line takes. Most lines are ASCII, and are measured without
// being drawn.
func (p *Patch) rowsOf(line string, w int) int {
	w = max(w, 1)
	col := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\t':
			col += tabWidth - col%tabWidth
		case c < ' ' || c >= 0x7f:
			return len(p.theme.Wrap(nil, w, Margins{Hard: true}, Span{Plain, shown(line)}))
		default:
			col++
		}
	}
	return max((col+w-1)/w, 1)
}

// rowsOfWords is how many rows of width w a line takes that is broken between words.
func (p *Patch) rowsOfWords(line string, w int) int {
	if p.rowsOf(line, w) == 1 {
		return 1
	}
	return len(p.theme.Wrap(nil, max(w, 1), Margins{}, Span{Plain, shown(line)}))
}

// shown is a line with its hidden characters written out and its tabs at stops that count from its
// beginning.
func shown(line string) safeterm.Text {
	return safeterm.Clean(flat(safeterm.Reveal(line).String(), 0))
}

// lineOf is a line with its style, to be compared with the one in its place.
func lineOf(s Style, text string) diffLine { return diffLine{style: s, text: shown(text).String()} }

// paint gives a line its styles; one that is too long has none.
func (p *Patch) paint(l diffLine) []Span {
	if len(l.text) > maxHighlight {
		return []Span{{p.theme.changed(l.style), safeterm.Clean(l.text)}}
	}
	if spans := p.theme.paint(p.lang, l); len(spans) > 0 {
		return spans
	}
	return []Span{{l.style, safeterm.Text{}}}
}

// signed splits off what says whether a line came or went: where a line goes on in the next row,
// nothing may stand in the column of the signs.
func signed(line string) (sign, text string) {
	if line == "" || strings.IndexByte("+- ", line[0]) < 0 {
		return "", line
	}
	return line[:1], line[1:]
}

// draw draws line i.
func (p *Patch) draw(i int) []Row {
	line := p.lines[i]
	if line.pair {
		return p.pair(line)
	}
	sign, text := signed(line.whole)
	l := lineOf(line.style, text)
	if line.other != 0 {
		there := p.lines[i+line.other]
		_, text := signed(there.whole)
		other := lineOf(there.style, text)
		compare(&l, &other)
	}
	ground := groundOf(line.style)
	first, rest := p.theme.Pen(), p.theme.Pen()
	if line.number != 0 {
		digits := strconv.Itoa(line.number)
		first.Pad(p.wide-len(digits)).Fixed(Dim, digits+" ")
		rest.Pad(p.wide + 1)
	}
	first.Fixed(p.theme.changed(line.style), sign)
	rest.Fill(ground, first.Width()).Pad(first.Width())
	margins := Margins{First: first.Done(), Rest: rest.Done(), Hard: true}
	rows := p.theme.Wrap(nil, p.w, margins, p.paint(l)...)
	p.theme.Grounded(rows, ground, p.w)
	return rows
}

func (p *Patch) pair(line patchLine) []Row {
	l, r := lineOf(line.l.style, line.l.text), lineOf(line.r.style, line.r.text)
	if line.alike {
		compare(&l, &r)
	}
	left, right := p.cell(line.l, l), p.cell(line.r, r)
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

func (p *Patch) cell(c cell, l diffLine) []Row {
	if c.number == 0 {
		return nil
	}
	first := c.head(p.theme)
	ground := groundOf(c.style)
	margins := Margins{First: first, Rest: p.theme.Pen().Fill(ground, first.w).Pad(first.w).Done()}
	rows := p.theme.Wrap(nil, p.side(), margins, p.paint(l)...)
	p.theme.Grounded(rows, ground, p.side())
	return rows
}
