package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// editor is a text with a cursor. What goes in is cleaned on the way: a pasted text cannot command the
// terminal, and holds no characters that the person does not see.
type editor struct {
	text string
	at   int // byte offset of the cursor, always between characters
	goal int // column that up and down aim for, plus one; 0: where the cursor is
	// units are words that are one character for the person, such as the word for a pasted text.
	units  []string
	undone undo
	killed string // what was deleted last by more than a character
	marked [2]int // what is drawn as chosen
}

// editorAt is a text with the cursor at a byte of it.
func editorAt(text string, at int) editor { return editor{text: text, at: at} }

// copyAt is the same text, units included, with the cursor elsewhere; to look where a motion leads.
func (e *editor) copyAt(at int) editor { return editor{text: e.text, at: at, units: e.units} }

// addUnit makes a word one character for the person.
func (e *editor) addUnit(word string) { e.units = append(e.units, word) }

// mark has from..to drawn as chosen.
func (e *editor) mark(from, to int) { e.marked = [2]int{from, to} }

// inOne reports whether changes are being joined: between begin and end.
func (e *editor) inOne() bool { return e.undone.depth > 0 }

// stepLeft goes left without forgetting the column that up and down aim for.
func (e *editor) stepLeft() {
	goal := e.goal
	e.moveTo(e.left())
	e.goal = goal
}

// insert puts a text at the cursor.
func (e *editor) insert(s string) {
	e.keep(typing(e, s))
	s = safeterm.Clean(strings.ReplaceAll(s, "\r\n", "\n")).String()
	e.text = e.text[:e.at] + s + e.text[e.at:]
	e.at += len(s)
	e.settle()
}

// settle ends a change: text that was harmless apart may hide something where it meets.
func (e *editor) settle() {
	e.goal = 0
	if clean := safeterm.Clean(e.text); clean.Len() != len(e.text) {
		e.text = clean.String()
		e.at = clean.Slice(0, min(e.at, clean.Len())).Len()
	}
}

// set replaces the text and puts the cursor at its end.
func (e *editor) set(s string) {
	e.together(func() {
		e.keep(otherChange)
		e.text, e.at = "", 0
		e.insert(s)
	})
}

func (e *editor) empty() bool { return e.text == "" }

// cut removes from..to and leaves the cursor there.
func (e *editor) cut(from, to int) {
	from, _ = e.unit(from)
	_, to = e.unit(to)
	e.keep(erasing(from, to))
	e.text = e.text[:from] + e.text[to:]
	e.at = from
	e.settle()
}

// replace puts s in the place of from..to, with the cursor behind it.
func (e *editor) replace(from, to int, s string) {
	e.together(func() {
		e.cut(from, to)
		e.insert(s)
	})
}

// kill is cut, and remembers for yank what it cut.
func (e *editor) kill(from, to int) {
	if from < to {
		e.killed = e.text[from:to]
	}
	e.together(func() { e.cut(from, to) })
}

func (e *editor) yank() { e.insert(e.killed) }

// moveTo puts the cursor at a place; inside of a unit it goes on to its end.
func (e *editor) moveTo(at int) {
	from, to := e.unit(at)
	if at < e.at {
		at = from
	} else {
		at = to
	}
	e.at, e.goal, e.undone.last = at, 0, otherChange
}

// unit is where the unit around at begins and ends; where there is none, both are at.
func (e *editor) unit(at int) (from, to int) {
	for _, word := range e.units {
		for i := 0; ; {
			j := strings.Index(e.text[i:], word)
			if j < 0 {
				break
			}
			from, to := i+j, i+j+len(word)
			if from < at && at < to {
				return from, to
			}
			i = to
		}
	}
	return at, at
}

// left is where the character before the cursor begins.
func (e *editor) left() int {
	at, _ := e.unit(e.clusterLeft())
	return at
}

// right is where the character at the cursor ends.
func (e *editor) right() int {
	_, at := e.unit(e.clusterRight())
	return at
}

func (e *editor) clusterLeft() int {
	line := e.lineStart()
	if line == e.at {
		return max(e.at-1, 0)
	}
	before := drawable(e.text[line:e.at])
	last := 0
	for pos := 0; pos < before.Len(); {
		last = pos
		n, _ := draw.Cluster(before, pos)
		pos += n
	}
	return line + last
}

func (e *editor) clusterRight() int {
	if e.at >= len(e.text) {
		return e.at
	}
	n, _ := draw.Cluster(safeterm.Clean(e.text[e.at:e.lineEnd()]+"\n"), 0)
	return min(e.at+n, len(e.text))
}

func (e *editor) lineStart() int { return strings.LastIndexByte(e.text[:e.at], '\n') + 1 }

func (e *editor) lineEnd() int {
	if i := strings.IndexByte(e.text[e.at:], '\n'); i >= 0 {
		return e.at + i
	}
	return len(e.text)
}

// wordLeft is where the word before the cursor begins.
func (e *editor) wordLeft() int {
	i := len(strings.TrimRightFunc(e.text[:e.at], notWord))
	return len(strings.TrimRightFunc(e.text[:i], isWord))
}

// wordRight is where the word after the cursor ends.
func (e *editor) wordRight() int {
	rest := strings.TrimLeftFunc(e.text[e.at:], notWord)
	return len(e.text) - len(strings.TrimLeftFunc(rest, isWord))
}

func isWord(r rune) bool  { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
func notWord(r rune) bool { return !isWord(r) }

// place is a row of the drawn text and the bytes it shows.
type place struct{ from, to int }

// places lists the rows of the text when it is w cells wide.
func (e *editor) places(w int) []place {
	var out []place
	at := 0
	for line := range strings.SplitSeq(e.text, "\n") {
		for _, r := range draw.Breaks(drawable(line), w) {
			out = append(out, place{at + r[0], at + r[1]})
		}
		at += len(line) + 1
	}
	return out
}

// drawable is a line as text whose bytes are where they are in the editor.
func drawable(line string) safeterm.Text { return safeterm.Clean(strings.ReplaceAll(line, "\t", " ")) }

// cursor finds the row and column of the cursor.
func (e *editor) cursor(places []place) (row, col int) {
	for i, p := range places {
		last := i == len(places)-1 || places[i+1].from > p.to // the row ends its line
		if e.at < p.to || e.at == p.to && last {
			return i, cells(e.text[p.from:e.at])
		}
	}
	return len(places) - 1, 0
}

func cells(s string) int {
	n := 0
	t := drawable(s)
	for i := 0; i < t.Len(); {
		bytes, w := draw.Cluster(t, i)
		i += bytes
		n += w
	}
	return n
}

// vertical moves the cursor by rows; it reports false at the first or last row.
func (e *editor) vertical(w, by int) bool {
	places := e.places(w)
	row, col := e.cursor(places)
	if row+by < 0 || row+by >= len(places) {
		return false
	}
	if e.goal > 0 {
		col = e.goal - 1
	}
	p := places[row+by]
	line := drawable(e.text[p.from:p.to])
	at, x := 0, 0
	for at < line.Len() {
		n, cw := draw.Cluster(line, at)
		if x+cw > col {
			break
		}
		at, x = at+n, x+cw
	}
	e.moveTo(p.from + at)
	e.goal = col + 1
	return true
}

// Rows draws the text, w cells wide, and says where the cursor is.
func (e *editor) Rows(t *draw.Theme, w int) (rows []draw.Row, x, y int) {
	places := e.places(max(w-1, 1)) // the cursor may stand behind a full row
	for _, p := range places {
		from, to := max(min(e.marked[0], p.to), p.from), max(min(e.marked[1], p.to), p.from)
		rows = append(rows, t.Pen().Put(draw.Plain, drawable(e.text[p.from:from])).
			Put(draw.Accent|draw.Underlined, drawable(e.text[from:to])).Put(draw.Plain, drawable(e.text[to:p.to])).Done())
	}
	y, x = e.cursor(places)
	return rows, x, y
}

// typed reports the characters of a key that writes some.
func typed(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.IsPrint(r)
}

// longText is from where on a text that comes back whole is folded: an editor of one line per key has its limits.
const longText = 64 << 10
