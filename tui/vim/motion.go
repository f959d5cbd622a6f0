package vim

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/tui/draw"
	"adze/tui/edit"
)

// move is a motion's target.
type move struct {
	target int
	onto   bool // inclusive
	lines  bool // whole lines
	browse int  // no such row: -1 above, 1 below
}

// find is a character search in the line.
type find struct {
	kind string // f F t T
	arg  string
}

// motion computes a motion's target; it returns false if there is none.
func (v *Keys) motion(e *edit.Editor, w int, c command) (move, bool) {
	n := max(c.count, 1)
	switch c.verb {
	case "h":
		return repeat(e, n, func(e *edit.Editor) int { return max(e.Previous(), e.LineStart()) }), true
	case "l", "space":
		return repeat(e, n, func(e *edit.Editor) int { return min(e.Right(), e.LineEnd()) }), true
	case "w", "W":
		return repeat(e, n, func(e *edit.Editor) int { return nextWord(e.Text, e.Cursor, c.verb == "W") }), true
	case "b", "B":
		return repeat(e, n, func(e *edit.Editor) int { return wordBefore(e.Text, e.Cursor, c.verb == "B") }), true
	case "e", "E":
		m := repeat(e, n, func(e *edit.Editor) int { return wordEnd(e.Text, e.Cursor, c.verb == "E") })
		m.onto = true
		return m, true
	case "0":
		return move{target: e.LineStart()}, true
	case "^":
		return move{target: firstLetter(e.Text, e.LineStart())}, true
	case "$":
		down := lineBelow(e, n-1)
		down.Cursor = down.LineEnd()
		return move{target: max(down.Previous(), down.LineStart()), onto: down.LineEnd() > down.LineStart()}, true
	case "gg", "G":
		return move{target: firstLetter(e.Text, lineNumber(e.Text, c.count, c.verb == "G")), lines: true}, true
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

// repeat applies step n times, or until it no longer moves.
func repeat(e *edit.Editor, n int, step func(*edit.Editor) int) move {
	c := e.CopyAt(e.Cursor)
	for range n {
		to := snap(&c, step(&c))
		if to == c.Cursor {
			break
		}
		c.Cursor = to
	}
	return move{target: c.Cursor}
}

// snap returns where the character at a position starts.
func snap(e *edit.Editor, at int) int {
	at = max(min(at, len(e.Text)), 0)
	c := edit.New(e.Text, at)
	start := c.LineStart()
	line := edit.Drawable(e.Text[start:c.LineEnd()])
	for pos := 0; pos < line.Len() && start+pos < at; {
		n, _ := draw.ByCharacter.Cluster(line, pos)
		if start+pos+n > at {
			at = start + pos
		}
		pos += n
	}
	from, _ := e.Unit(at)
	return from
}

// vertical moves by drawn rows; an operator uses lines instead.
func vertical(e *edit.Editor, w, n int, c command) move {
	if c.op != "" {
		if c.verb == "j" {
			return move{target: lineBelow(e, n).Cursor, lines: true}
		}
		return move{target: lineAbove(e, n).Cursor, lines: true}
	}
	by := 1
	if c.verb == "k" {
		by = -1
	}
	for i := range n {
		if !e.Vertical(w, by) {
			if i == 0 {
				return move{target: e.Cursor, browse: by}
			}
			break
		}
	}
	return move{target: e.Cursor}
}

// lineBelow returns a copy with the cursor n lines down, lineAbove n lines up.
func lineBelow(e *edit.Editor, n int) *edit.Editor {
	c := e.CopyAt(e.Cursor)
	for ; n > 0 && c.LineEnd() < len(c.Text); n-- {
		c.Cursor = c.LineEnd() + 1
	}
	return &c
}

func lineAbove(e *edit.Editor, n int) *edit.Editor {
	c := e.CopyAt(e.Cursor)
	for ; n > 0 && c.LineStart() > 0; n-- {
		c.Cursor = c.LineStart() - 1
	}
	c.Cursor = c.LineStart()
	return &c
}

// lineNumber returns where a line starts, counted from 1; 0 means the first, or the last.
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

// firstLetter returns the first nonblank position in the line that begins at at.
func firstLetter(text string, at int) int {
	return at + len(text[at:]) - len(strings.TrimLeft(text[at:], " \t"))
}

// from searches the character n times; again continues after the position where t or T stopped.
func (f find) from(e *edit.Editor, n int, again bool) (move, bool) {
	if f.arg == "" {
		return move{}, false
	}
	start, end := e.LineStart(), e.LineEnd()
	c := e.CopyAt(e.Cursor)
	if again && f.kind == "t" {
		c.Cursor = min(c.Right(), end)
	} else if again && f.kind == "T" {
		c.Cursor = max(c.Previous(), start)
	}
	for range n {
		i := -1
		if f.kind == "f" || f.kind == "t" {
			from := min(c.Right(), end)
			if i = strings.Index(e.Text[from:end], f.arg); i >= 0 {
				i += from
			}
		} else {
			i = strings.LastIndex(e.Text[start:c.Cursor], f.arg)
			if i >= 0 {
				i += start
			}
		}
		if i < 0 {
			return move{}, false
		}
		c.Cursor = snap(e, i)
	}
	switch f.kind {
	case "t":
		c.Cursor = c.Previous()
	case "T":
		c.Cursor = c.Right()
	}
	return move{target: c.Cursor, onto: f.kind == "f" || f.kind == "t"}, true
}

func (f find) reversed(yes bool) find {
	if yes && f.kind != "" {
		f.kind = map[string]string{"f": "F", "F": "f", "t": "T", "T": "t"}[f.kind]
	}
	return f
}

// Character kinds; a word is a run with one kind.
const (
	blankKind = iota
	wordKind
	signKind
)

func kind(r rune, big bool) int {
	switch {
	case unicode.IsSpace(r):
		return blankKind
	case big || edit.IsWord(r):
		return wordKind
	}
	return signKind
}

// skip skips a run with one kind, including combining marks.
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

// nextWord returns where the next word starts; an empty line is a word.
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

// wordEnd returns the last character in the current or next word.
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

// lastLetter returns where the character before a position starts.
func lastLetter(text string, at int) int {
	_, n := utf8.DecodeLastRuneInString(text[:at])
	return at - n
}

// wordBefore returns where the word before the cursor starts.
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
