// Package edit is a text with a cursor, as every line and box of the interface has one: moving,
// deleting, undoing, and drawing it. It knows no model and no pane.
//
// The one rule: what goes in is cleaned on the way, so that a pasted text cannot command the
// terminal, and the cursor is always between whole characters.
//
// Start reading at Editor, then Keys, the keys that every text understands. Known limits: the text
// is one string; each change copies it, which is felt from about a megabyte on: longer pastes are
// folded by who owns the text.
package edit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// Editor is a text with a cursor. What goes in is cleaned on the way: a pasted text cannot command
// the terminal, and holds no characters that the user does not see.
type Editor struct {
	Text string
	At   int // byte offset of the cursor, always between characters
	goal int // column that up and down aim for, plus one; if 0, where the cursor is
	// units are words that are one character for the user, such as the word for a pasted text.
	units  []string
	undone history
	Killed string // what was deleted last by more than a character
	counts draw.Cells
}

// New is a text with the cursor at a byte of it.
func New(text string, at int) Editor { return Editor{Text: text, At: at} }

// CopyAt is the same text, units included, with the cursor elsewhere; to look where a motion leads.
func (e *Editor) CopyAt(at int) Editor { return Editor{Text: e.Text, At: at, units: e.units} }

// AddUnit makes a word one character for the user.
func (e *Editor) AddUnit(word string) { e.units = append(e.units, word) }

// InOne reports whether changes are being joined: between begin and end.
func (e *Editor) InOne() bool { return e.undone.depth > 0 }

// StepLeft goes left without forgetting the column that up and down aim for.
func (e *Editor) StepLeft() {
	goal := e.goal
	e.MoveTo(e.Left())
	e.goal = goal
}

// Insert puts a text at the cursor.
func (e *Editor) Insert(s string) {
	e.keep(typing(e, s))
	s = safeterm.Clean(strings.ReplaceAll(s, "\r\n", "\n")).String()
	e.Text = e.Text[:e.At] + s + e.Text[e.At:]
	e.At += len(s)
	e.settle()
}

// settle ends a change: text that was harmless apart may hide something where it meets.
func (e *Editor) settle() {
	e.goal = 0
	if clean := safeterm.Clean(e.Text); clean.Len() != len(e.Text) {
		e.Text = clean.String()
		e.At = clean.Slice(0, min(e.At, clean.Len())).Len()
	}
}

// Set replaces the text and puts the cursor at its end.
func (e *Editor) Set(s string) {
	e.Together(func() {
		e.keep(otherChange)
		e.Text, e.At = "", 0
		e.Insert(s)
	})
}

// Empty reports that nothing is written.
func (e *Editor) Empty() bool { return e.Text == "" }

// Cut removes from..to and leaves the cursor there.
func (e *Editor) Cut(from, to int) {
	from, _ = e.Unit(from)
	_, to = e.Unit(to)
	e.keep(erasing(from, to))
	e.Text = e.Text[:from] + e.Text[to:]
	e.At = from
	e.settle()
}

// Replace puts s in the place of from..to, with the cursor behind it.
func (e *Editor) Replace(from, to int, s string) {
	e.Together(func() {
		e.Cut(from, to)
		e.Insert(s)
	})
}

// kill is cut, and remembers for yank what it cut.
func (e *Editor) kill(from, to int) {
	if from < to {
		e.Killed = e.Text[from:to]
	}
	e.Together(func() { e.Cut(from, to) })
}

func (e *Editor) yank() { e.Insert(e.Killed) }

// MoveTo puts the cursor at a place; inside of a unit it goes on to its end.
func (e *Editor) MoveTo(at int) {
	from, to := e.Unit(at)
	if at < e.At {
		at = from
	} else {
		at = to
	}
	e.At, e.goal, e.undone.last = at, 0, otherChange
}

// Unit is where the unit around at begins and ends; where there is none, both are at.
func (e *Editor) Unit(at int) (from, to int) {
	for _, word := range e.units {
		for i := 0; ; {
			j := strings.Index(e.Text[i:], word)
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

// Left is where the character before the cursor begins.
func (e *Editor) Left() int {
	at, _ := e.Unit(e.clusterLeft())
	return at
}

// Right is where the character at the cursor ends.
func (e *Editor) Right() int {
	_, at := e.Unit(e.clusterRight())
	return at
}

func (e *Editor) clusterLeft() int {
	line := e.LineStart()
	if line == e.At {
		return max(e.At-1, 0)
	}
	before := Drawable(e.Text[line:e.At])
	last := 0
	for pos := 0; pos < before.Len(); {
		last = pos
		n, _ := e.counts.Cluster(before, pos)
		pos += n
	}
	return line + last
}

func (e *Editor) clusterRight() int {
	if e.At >= len(e.Text) {
		return e.At
	}
	n, _ := e.counts.Cluster(safeterm.Clean(e.Text[e.At:e.LineEnd()]+"\n"), 0)
	return min(e.At+n, len(e.Text))
}

// LineStart and LineEnd are where the line of the cursor begins, and where its newline or the
// text's end is.
func (e *Editor) LineStart() int { return strings.LastIndexByte(e.Text[:e.At], '\n') + 1 }

func (e *Editor) LineEnd() int {
	if i := strings.IndexByte(e.Text[e.At:], '\n'); i >= 0 {
		return e.At + i
	}
	return len(e.Text)
}

// WordLeft is where the word before the cursor begins.
func (e *Editor) WordLeft() int {
	i := len(strings.TrimRightFunc(e.Text[:e.At], notWord))
	return len(strings.TrimRightFunc(e.Text[:i], IsWord))
}

// wordRight is where the word after the cursor ends.
func (e *Editor) wordRight() int {
	rest := strings.TrimLeftFunc(e.Text[e.At:], notWord)
	return len(e.Text) - len(strings.TrimLeftFunc(rest, IsWord))
}

// IsWord and NotWord tell letters of a word from what is between words.
func IsWord(r rune) bool  { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
func notWord(r rune) bool { return !IsWord(r) }

// place is a row of the drawn text and the bytes it shows.
type place struct{ from, to int }

// Places lists the rows of the text when it is w cells wide.
func (e *Editor) Places(w int) []place {
	var out []place
	at := 0
	for line := range strings.SplitSeq(e.Text, "\n") {
		for _, r := range e.counts.Breaks(Drawable(line), w) {
			out = append(out, place{at + r[0], at + r[1]})
		}
		at += len(line) + 1
	}
	return out
}

// Drawable is a line as text whose bytes are where they are in the editor.
func Drawable(line string) safeterm.Text { return safeterm.Clean(strings.ReplaceAll(line, "\t", " ")) }

// cursor finds the row and column of the cursor.
func (e *Editor) cursor(places []place) (row, col int) {
	for i, p := range places {
		last := i == len(places)-1 || places[i+1].from > p.to // the row ends its line
		if e.At < p.to || e.At == p.to && last {
			return i, e.cells(e.Text[p.from:e.At])
		}
	}
	return len(places) - 1, 0
}

func (e *Editor) cells(s string) int {
	n := 0
	t := Drawable(s)
	for i := 0; i < t.Len(); {
		bytes, w := e.counts.Cluster(t, i)
		i += bytes
		n += w
	}
	return n
}

// Vertical moves the cursor by rows; it reports false at the first or last row.
func (e *Editor) Vertical(w, by int) bool {
	places := e.Places(w)
	row, col := e.cursor(places)
	if row+by < 0 || row+by >= len(places) {
		return false
	}
	if e.goal > 0 {
		col = e.goal - 1
	}
	p := places[row+by]
	line := Drawable(e.Text[p.from:p.to])
	at, x := 0, 0
	for at < line.Len() {
		n, cw := e.counts.Cluster(line, at)
		if x+cw > col {
			break
		}
		at, x = at+n, x+cw
	}
	e.MoveTo(p.from + at)
	e.goal = col + 1
	return true
}

// Rows draws the text, w cells wide, and says where the cursor is.
func (e *Editor) Rows(t *draw.Theme, w int) (rows []draw.Row, x, y int) {
	e.counts = t.Cells()
	places := e.Places(max(w-1, 1)) // the cursor may stand behind a full row
	for _, p := range places {
		rows = append(rows, t.Line(draw.Plain, Drawable(e.Text[p.from:p.to])))
	}
	y, x = e.cursor(places)
	return rows, x, y
}

// Types reports the characters of a key that writes some.
func Types(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.IsPrint(r)
}

// Long is from where on a text that comes back whole is folded: an editor of one line per key has
// its limits.
const Long = 64 << 10
