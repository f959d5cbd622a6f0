// Package edit is a text with a cursor, used by every input field: moving, deleting, undo and
// drawing. It does not know the model or any pane.
//
// The one rule: input is sanitized, so that a pasted text cannot control the terminal, and the
// cursor is always between whole characters.
//
// Start reading at Editor, then Keys. Known limits: the text is one string and each change copies
// it, which is noticeable from about a megabyte on; the caller folds longer pastes.
package edit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// Editor is a text with a cursor. Input is sanitized: it cannot control the terminal or contain
// invisible characters.
type Editor struct {
	Text   string
	Cursor int // cursor as a byte offset, always between characters
	goal   int // column that up and down aim for, plus one; 0 means the cursor's column
	// units are words that count as one character, such as the word for a pasted text.
	units  []string
	undone history
	Killed string // last deletion longer than a character
	counts draw.Cells
}

// New returns an editor with the cursor at byte offset at.
func New(text string, at int) Editor { return Editor{Text: text, Cursor: at} }

// CopyAt returns a copy with units and the cursor at at, to compute a motion.
func (e *Editor) CopyAt(at int) Editor { return Editor{Text: e.Text, Cursor: at, units: e.units} }

// AddUnit makes a word count as one character.
func (e *Editor) AddUnit(word string) { e.units = append(e.units, word) }

// InOne reports whether changes are being joined, between Begin and End.
func (e *Editor) InOne() bool { return e.undone.depth > 0 }

// StepLeft moves left and keeps the column that up and down aim for.
func (e *Editor) StepLeft() {
	goal := e.goal
	e.MoveTo(e.Previous())
	e.goal = goal
}

// Insert inserts text at the cursor.
func (e *Editor) Insert(s string) {
	e.keep(typing(e, s))
	s = safeterm.Clean(strings.ReplaceAll(s, "\r\n", "\n")).String()
	e.Text = e.Text[:e.Cursor] + s + e.Text[e.Cursor:]
	e.Cursor += len(s)
	e.settle()
}

// settle ends a change: texts that are harmless alone may hide something when joined.
func (e *Editor) settle() {
	e.goal = 0
	if clean := safeterm.Clean(e.Text); clean.Len() != len(e.Text) {
		e.Text = clean.String()
		e.Cursor = clean.Slice(0, min(e.Cursor, clean.Len())).Len()
	}
}

// Set replaces the text and moves the cursor to its end.
func (e *Editor) Set(s string) {
	e.AsOneChange(func() {
		e.keep(otherChange)
		e.Text, e.Cursor = "", 0
		e.Insert(s)
	})
}

// Empty reports whether the text is empty.
func (e *Editor) Empty() bool { return e.Text == "" }

// Cut removes from..to and moves the cursor there.
func (e *Editor) Cut(from, to int) {
	from, _ = e.Unit(from)
	_, to = e.Unit(to)
	e.keep(erasing(from, to))
	e.Text = e.Text[:from] + e.Text[to:]
	e.Cursor = from
	e.settle()
}

// Replace replaces from..to by s and moves the cursor after it.
func (e *Editor) Replace(from, to int, s string) {
	e.AsOneChange(func() {
		e.Cut(from, to)
		e.Insert(s)
	})
}

// kill is Cut that saves the text for yank.
func (e *Editor) kill(from, to int) {
	if from < to {
		e.Killed = e.Text[from:to]
	}
	e.AsOneChange(func() { e.Cut(from, to) })
}

func (e *Editor) yank() { e.Insert(e.Killed) }

// MoveTo moves the cursor; inside a unit it continues to the unit's edge.
func (e *Editor) MoveTo(at int) {
	from, to := e.Unit(at)
	if at < e.Cursor {
		at = from
	} else {
		at = to
	}
	e.Cursor, e.goal, e.undone.last = at, 0, otherChange
}

// Unit returns the unit's range around at, or at, at.
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

// Previous returns where the character before the cursor starts.
func (e *Editor) Previous() int {
	at, _ := e.Unit(e.clusterLeft())
	return at
}

// Right returns where the character at the cursor ends.
func (e *Editor) Right() int {
	_, at := e.Unit(e.clusterRight())
	return at
}

func (e *Editor) clusterLeft() int {
	line := e.LineStart()
	if line == e.Cursor {
		return max(e.Cursor-1, 0)
	}
	before := Drawable(e.Text[line:e.Cursor])
	last := 0
	for pos := 0; pos < before.Len(); {
		last = pos
		n, _ := e.counts.Cluster(before, pos)
		pos += n
	}
	return line + last
}

func (e *Editor) clusterRight() int {
	if e.Cursor >= len(e.Text) {
		return e.Cursor
	}
	n, _ := e.counts.Cluster(safeterm.Clean(e.Text[e.Cursor:e.LineEnd()]+"\n"), 0)
	return min(e.Cursor+n, len(e.Text))
}

// LineStart and LineEnd return where the cursor's line starts, and where its newline or the text's
// end is.
func (e *Editor) LineStart() int { return strings.LastIndexByte(e.Text[:e.Cursor], '\n') + 1 }

func (e *Editor) LineEnd() int {
	if i := strings.IndexByte(e.Text[e.Cursor:], '\n'); i >= 0 {
		return e.Cursor + i
	}
	return len(e.Text)
}

// WordLeft returns where the word before the cursor starts.
func (e *Editor) WordLeft() int {
	i := len(strings.TrimRightFunc(e.Text[:e.Cursor], notWord))
	return len(strings.TrimRightFunc(e.Text[:i], IsWord))
}

// wordRight returns where the word after the cursor ends.
func (e *Editor) wordRight() int {
	rest := strings.TrimLeftFunc(e.Text[e.Cursor:], notWord)
	return len(e.Text) - len(strings.TrimLeftFunc(rest, IsWord))
}

// IsWord reports whether r belongs to a word; notWord is its opposite.
func IsWord(r rune) bool  { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
func notWord(r rune) bool { return !IsWord(r) }

// place is a drawn row's byte range.
type place struct{ start, end int }

// Places returns the text's rows at width w.
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

// Drawable returns a line whose bytes have the same offsets as in the editor.
func Drawable(line string) safeterm.Text { return safeterm.Clean(strings.ReplaceAll(line, "\t", " ")) }

// cursor returns the cursor's row and column.
func (e *Editor) cursor(places []place) (row, col int) {
	for i, p := range places {
		last := i == len(places)-1 || places[i+1].start > p.end // the row ends its line
		if e.Cursor < p.end || e.Cursor == p.end && last {
			return i, e.cells(e.Text[p.start:e.Cursor])
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

// Vertical moves the cursor by rows; it returns false at the first or last row.
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
	line := Drawable(e.Text[p.start:p.end])
	at, x := 0, 0
	for at < line.Len() {
		n, cw := e.counts.Cluster(line, at)
		if x+cw > col {
			break
		}
		at, x = at+n, x+cw
	}
	e.MoveTo(p.start + at)
	e.goal = col + 1
	return true
}

// Rows draws the text in width w and returns the cursor position.
func (e *Editor) Rows(t *draw.Theme, w int) (rows []draw.Row, x, y int) {
	e.counts = t.Cells()
	places := e.Places(max(w-1, 1)) // the cursor may be after a full row
	for _, p := range places {
		rows = append(rows, t.Line(draw.Plain, Drawable(e.Text[p.start:p.end])))
	}
	y, x = e.cursor(places)
	return rows, x, y
}

// Types reports whether s is printable text from a key.
func Types(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.IsPrint(r)
}

// Long is the length in bytes from which a restored text is folded, because an editor slows down
// with long texts.
const Long = 64 << 10
