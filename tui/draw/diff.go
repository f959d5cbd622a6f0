package draw

import (
	"strings"
	"unicode/utf8"

	"adze/internal/text/highlight"
	"adze/internal/text/safeterm"
	"adze/tool"
)

// diffLine is a line of a unified diff.
type diffLine struct {
	style    Style
	mark     string // what stands before the code: + - or a space
	text     string // clean, without tabs
	from, to int    // what differs from the line that it replaces, or that replaces it
}

// diff draws a unified diff.
func (d *blockDrawer) diff(b tool.Block) {
	body := headless(b)
	shown, _ := firstLines(body, d.show.Rows)
	lines := diffLines(shown)
	lang := highlight.ForFile(b.Path)
	if len(shown) > maxHighlight {
		lang = highlight.Language{}
	}
	d.lines(body, func(i int, _ string) {
		l := lines[i]
		spans := []Span{{d.theme.changed(l.style), safeterm.Clean(l.mark)}}
		from := len(d.rows)
		d.line(Row{}, append(spans, d.theme.paint(lang, l)...)...)
		d.theme.Grounded(d.rows[from:], l.ground(), d.w)
	})
}

// ground is what a line stands on.
func (l diffLine) ground() Style { return groundOf(l.style) }

func groundOf(s Style) Style {
	switch s {
	case Added:
		return OnAdded
	case Removed:
		return OnRemoved
	}
	return 0
}

// changed is how a line that came or went is written: on its ground, where the theme has one. With
// 256 colours that is the colour, and text on it has its own.
func (t *Theme) changed(s Style) Style {
	g := groundOf(s)
	if g != 0 && t.on[g.ground()] != "" && !t.tinted {
		return g
	}
	return s | g
}

// diffLines reads the lines of a diff and finds what differs within them.
func diffLines(body string) []diffLine {
	var lines []diffLine
	for line := range strings.SplitSeq(body, "\n") {
		l := diffLine{style: diffStyle(line)}
		line = strings.TrimSuffix(line, "\r")
		if l.style != Hunk && line != "" && strings.IndexByte("+- ", line[0]) >= 0 {
			l.mark, line = line[:1], line[1:]
		}
		l.text = flat(safeterm.Reveal(line).String(), 0)
		lines = append(lines, l)
	}
	style := func(i int) Style { return lines[i].style }
	replaced(len(lines), style, func(old, now int) { compare(&lines[old], &lines[now]) })
	return lines
}

// headless is a diff without the two lines that name its file, where that is known.
func headless(b tool.Block) string {
	if at := strings.Index("\n"+b.Text, "\n@@"); at > 0 && b.Path != "" {
		return b.Text[at:]
	}
	return b.Text
}

// replaced calls yield with each removed line of n and the added one that takes its place: the
// first of a run of removed lines is replaced by the first of the run of added ones behind it.
func replaced(n int, style func(i int) Style, yield func(old, now int)) {
	run := func(at int, s Style) int {
		end := at
		for end < n && style(end) == s {
			end++
		}
		return end - at
	}
	for at := 0; at < n; {
		gone := run(at, Removed)
		come := run(at+gone, Added)
		for i := range min(gone, come) {
			yield(at+i, at+gone+i)
		}
		at += max(gone+come, 1)
	}
}

func diffStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, "@@"):
		return Hunk
	case strings.HasPrefix(line, "+"):
		return Added
	case strings.HasPrefix(line, "-"):
		return Removed
	}
	return Plain
}

// compare marks what differs between a line and the one in its place: what is between their common
// begin and end, in whole words. Lines that share less than half are not versions of each other.
func compare(a, b *diffLine) {
	x, y := a.text, b.text
	from := 0
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
		return
	}
	a.from, a.to = from, len(x)-end
	b.from, b.to = from, len(y)-end
}

// inWord reports that i lies within a word or a character.
func inWord(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	return !utf8.RuneStart(s[i]) || i > 0 && wordByte(s[i-1]) && wordByte(s[i])
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b >= 0x80
}

// paint gives a line of a diff its styles. Where the ground says whether a line came or went, it
// keeps the colours of its language; else colour says it, and the language shows by attributes.
// What differs is underlined.
func (t *Theme) paint(lang highlight.Language, l diffLine) []Span {
	if l.style == Hunk {
		return []Span{{Hunk, safeterm.Clean(l.text)}}
	}
	var spans []Span
	at := 0
	for _, tok := range lang.Tokens(l.text) {
		style := tokenStyle(tok.Kind)
		switch {
		case l.style == Plain:
		case t.tinted:
			style |= l.ground()
		default:
			style = t.changed(l.style) | changedStyle(tok.Kind)
		}
		for text := tok.Text; text != ""; {
			n, s := len(text), style
			switch {
			case at < l.from:
				n = min(n, l.from-at)
			case at < l.to:
				n, s = min(n, l.to-at), style|Underlined
			}
			spans = append(spans, Span{s, safeterm.Clean(text[:n])})
			text, at = text[n:], at+n
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
