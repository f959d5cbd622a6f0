package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/tui/draw"
)

// move is where a motion leads.
type move struct {
	to     int
	onto   bool // the character there belongs to what is moved over
	lines  bool // whole lines do
	browse int  // there is no such row: -1 above, 1 below
}

// find is a search for a character in the line.
type find struct {
	kind string // f F t T
	arg  string
}

// motion says where a motion leads; false: nowhere.
func (v *vim) motion(e *editor, w int, c vimCommand) (move, bool) {
	n := max(c.count, 1)
	switch c.verb {
	case "h":
		return repeat(e, n, func(e *editor) int { return max(e.left(), e.lineStart()) }), true
	case "l", "space":
		return repeat(e, n, func(e *editor) int { return min(e.right(), e.lineEnd()) }), true
	case "w", "W":
		return repeat(e, n, func(e *editor) int { return nextWord(e.text, e.at, c.verb == "W") }), true
	case "b", "B":
		return repeat(e, n, func(e *editor) int { return wordBefore(e.text, e.at, c.verb == "B") }), true
	case "e", "E":
		m := repeat(e, n, func(e *editor) int { return wordEnd(e.text, e.at, c.verb == "E") })
		m.onto = true
		return m, true
	case "0":
		return move{to: e.lineStart()}, true
	case "^":
		return move{to: firstLetter(e.text, e.lineStart())}, true
	case "$":
		down := lineBelow(e, n-1)
		down.at = down.lineEnd()
		return move{to: max(down.left(), down.lineStart()), onto: down.lineEnd() > down.lineStart()}, true
	case "gg", "G":
		return move{to: firstLetter(e.text, lineNumber(e.text, c.count, c.verb == "G")), lines: true}, true
	case "j", "k":
		return vertical(e, w, n, c), true
	case ";", ",":
		return v.find.reversed(c.verb == ",").from(e, n, true)
	case "f", "F", "t", "T":
		v.find = find{c.verb, c.arg}
		return v.find.from(e, n, false)
	}
	return move{}, false
}

// repeat takes a step n times, or as often as it leads on.
func repeat(e *editor, n int, step func(*editor) int) move {
	c := e.copyAt(e.at)
	for range n {
		to := snap(&c, step(&c))
		if to == c.at {
			break
		}
		c.at = to
	}
	return move{to: c.at}
}

// snap is the beginning of the character at a place.
func snap(e *editor, at int) int {
	at = max(min(at, len(e.text)), 0)
	c := editorAt(e.text, at)
	start := c.lineStart()
	line := drawable(e.text[start:c.lineEnd()])
	for pos := 0; pos < line.Len() && start+pos < at; {
		n, _ := draw.Cluster(line, pos)
		if start+pos+n > at {
			at = start + pos
		}
		pos += n
	}
	from, _ := e.unit(at)
	return from
}

// vertical moves by rows as they are drawn; an operator takes the lines as they are written.
func vertical(e *editor, w, n int, c vimCommand) move {
	if c.op != "" {
		if c.verb == "j" {
			return move{to: lineBelow(e, n).at, lines: true}
		}
		return move{to: lineAbove(e, n).at, lines: true}
	}
	by := 1
	if c.verb == "k" {
		by = -1
	}
	for i := range n {
		if !e.vertical(w, by) {
			if i == 0 {
				return move{to: e.at, browse: by}
			}
			break
		}
	}
	return move{to: e.at}
}

// lineBelow is the editor with its cursor n lines further down; lineAbove, further up.
func lineBelow(e *editor, n int) *editor {
	c := e.copyAt(e.at)
	for ; n > 0 && c.lineEnd() < len(c.text); n-- {
		c.at = c.lineEnd() + 1
	}
	return &c
}

func lineAbove(e *editor, n int) *editor {
	c := e.copyAt(e.at)
	for ; n > 0 && c.lineStart() > 0; n-- {
		c.at = c.lineStart() - 1
	}
	c.at = c.lineStart()
	return &c
}

// lineNumber is where a line begins, counted from one; zero is the first, or the last.
func lineNumber(text string, n int, last bool) int {
	if n == 0 && last {
		return strings.LastIndexByte(text, '\n') + 1
	}
	at := 0
	for ; n > 1; n-- {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return at
}

// firstLetter is the first character of the line that begins at a place that is no blank.
func firstLetter(text string, at int) int {
	return at + len(text[at:]) - len(strings.TrimLeft(text[at:], " \t"))
}

// from looks for the character n times; again goes on behind where t stopped.
func (f find) from(e *editor, n int, again bool) (move, bool) {
	if f.arg == "" {
		return move{}, false
	}
	start, end := e.lineStart(), e.lineEnd()
	c := e.copyAt(e.at)
	if again && f.kind == "t" {
		c.at = min(c.right(), end)
	} else if again && f.kind == "T" {
		c.at = max(c.left(), start)
	}
	for range n {
		i := -1
		if f.kind == "f" || f.kind == "t" {
			from := min(c.right(), end)
			if i = strings.Index(e.text[from:end], f.arg); i >= 0 {
				i += from
			}
		} else {
			i = strings.LastIndex(e.text[start:c.at], f.arg)
			if i >= 0 {
				i += start
			}
		}
		if i < 0 {
			return move{}, false
		}
		c.at = snap(e, i)
	}
	switch f.kind {
	case "t":
		c.at = c.left()
	case "T":
		c.at = c.right()
	}
	return move{to: c.at, onto: f.kind == "f" || f.kind == "t"}, true
}

func (f find) reversed(yes bool) find {
	if yes && f.kind != "" {
		f.kind = map[string]string{"f": "F", "F": "f", "t": "T", "T": "t"}[f.kind]
	}
	return f
}

// Kinds of characters: words are runs of one.
const (
	blankKind = iota
	wordKind
	signKind
)

func kind(r rune, big bool) int {
	switch {
	case unicode.IsSpace(r):
		return blankKind
	case big || isWord(r):
		return wordKind
	}
	return signKind
}

// skip goes over a run of a kind; marks belong to what they stand on.
func skip(text string, at, k int, big bool) int {
	for at < len(text) {
		r, n := utf8.DecodeRuneInString(text[at:])
		if kind(r, big) != k && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			break
		}
		at += n
	}
	return at
}

func kindAt(text string, at int, big bool) int {
	if at >= len(text) {
		return blankKind
	}
	r, _ := utf8.DecodeRuneInString(text[at:])
	return kind(r, big)
}

// nextWord is where the next word begins; an empty line is one.
func nextWord(text string, at int, big bool) int {
	start := at
	if k := kindAt(text, at, big); k != blankKind {
		at = skip(text, at, k, big)
	}
	for at < len(text) && kindAt(text, at, big) == blankKind {
		if at > start && text[at] == '\n' && text[at-1] == '\n' {
			return at
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	return at
}

// wordEnd is the last character of the word that ends next.
func wordEnd(text string, at int, big bool) int {
	if at >= len(text) {
		return at
	}
	_, n := utf8.DecodeRuneInString(text[at:])
	at = skip(text, at+n, blankKind, big)
	if at >= len(text) {
		return lastLetter(text, len(text))
	}
	return lastLetter(text, skip(text, at, kindAt(text, at, big), big))
}

// lastLetter is where the character before a place begins.
func lastLetter(text string, at int) int {
	_, n := utf8.DecodeLastRuneInString(text[:at])
	return at - n
}

// wordBefore is where the word before the cursor begins.
func wordBefore(text string, at int, big bool) int {
	for at > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:at])
		if kind(r, big) != blankKind {
			break
		}
		at -= n
		if r == '\n' && at > 0 && text[at-1] == '\n' {
			return at
		}
	}
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	for k := kind(r, big); at > 0; {
		r, n := utf8.DecodeLastRuneInString(text[:at])
		if kind(r, big) != k && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			break
		}
		at -= n
	}
	return at
}
