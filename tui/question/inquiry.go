// Package question is the dialog in which the model asks the user one question: choices to mark,
// and a line for an answer in other words.
//
// The one rule: nothing of a question is hidden without saying so, and no key that was meant for
// something else answers it.
//
// Start reading at Dialog.Render. Known limits: questions are answered one by one,
// in their order.
package question

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/stream/ask"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/ui"
)

// Asked is a question that waits for its answer.
type Asked struct {
	ask.Question
	Reply chan Reply // holds one
}

// Reply is what came of a question.
type Reply struct {
	Text    string
	Refused bool // the user does not answer
}

// Unasked takes back a question whose call has ended.
type Unasked struct{ *Asked }

// Labels name the keys, as people read them.
type Labels struct{ Send, Stop, Down, Up, Marks string }

// Dialog is the dialog of the first question that waits.
type Dialog struct {
	theme *draw.Theme
	now   func() time.Time
	guard time.Duration
	keys  Labels
	queue []*Asked
	armed time.Time // from when on keys answer
	// Own is the answer in the user's own words.
	Own      edit.Editor
	at       int // the choice that is marked
	scrolled int
	hidden   int         // rows below the window, as last drawn
	room     int         // rows of the window, as last drawn
	w        int         // its width
	seen     int         // rows of the question that were in the window, counted from the first
	onMarked bool        // the marked choice is in the window, as last drawn
	prose    *draw.Prose // the question as Markdown; if nil, not yet
}

// fewest is how many rows of a question have to be seen before a choice is taken, where it has so
// many.
const fewest = 10

// New makes a dialog without questions. Keys answer once it was seen for guard.
func New(t *draw.Theme, now func() time.Time, guard time.Duration, k Labels) *Dialog {
	return &Dialog{theme: t, now: now, guard: guard, keys: k}
}

// Open reports whether a question waits.
func (d *Dialog) Open() bool { return len(d.queue) > 0 }

// First is the question that is shown; if nil, none is open.
func (d *Dialog) First() *Asked {
	if !d.Open() {
		return nil
	}
	return d.queue[0]
}

// Ready reports whether keys answer.
func (d *Dialog) Ready() bool { return d.Open() && !d.now().Before(d.armed) }

// HoldOff starts the guard again: the user is still at something else.
func (d *Dialog) HoldOff() { d.armed = d.now().Add(d.guard) }

// Add has a question wait behind those that do already.
func (d *Dialog) Add(a *Asked) {
	d.queue = append(d.queue, a)
	if len(d.queue) == 1 {
		d.begin()
	}
}

func (d *Dialog) begin() {
	d.Own, d.at, d.scrolled, d.seen, d.prose = edit.Editor{}, 0, 0, 0, nil
	d.HoldOff()
}

// Remove takes back a question whose call has ended.
func (d *Dialog) Remove(a *Asked) {
	first := d.First() == a
	d.queue = slices.DeleteFunc(d.queue, func(b *Asked) bool { return a == b })
	if first {
		d.begin()
	}
}

// Answer is what would be sent now: what was written, where that is no number of a choice; else the
// marked choice. If empty, there is none yet.
func (d *Dialog) Answer() string { return d.Means(d.Own.Text) }

// Means is the answer that a line stands for: the number of a choice, words of one's own, or
// nothing, which is the marked choice.
func (d *Dialog) Means(line string) string {
	line = strings.TrimSpace(line)
	choices := d.queue[0].Choices
	switch n, err := strconv.Atoi(line); {
	case err == nil && n >= 1 && n <= len(choices):
		return choices[n-1]
	case line == "" && len(choices) > 0:
		return choices[d.at]
	case d.Fixed():
		return ""
	}
	return line
}

// Fixed reports a question that its choices alone answer: other words are for the prompt.
func (d *Dialog) Fixed() bool {
	return d.Open() && d.queue[0].Decides && len(d.queue[0].Choices) > 0
}

// Aside takes what was written while a fixed question stood there and is no answer to it; if empty,
// there is nothing.
func (d *Dialog) Aside() string {
	text := strings.TrimSpace(d.Own.Text)
	if !d.Fixed() || text == "" || d.Means(text) != "" {
		return ""
	}
	d.Own = edit.Editor{}
	return text
}

// Reply answers the first question.
func (d *Dialog) Reply(r Reply) {
	d.queue[0].Reply <- r
	d.queue = d.queue[1:]
	d.begin()
}

// Move marks another choice; without choices it scrolls.
func (d *Dialog) Move(by int) {
	if n := len(d.queue[0].Choices); n > 0 {
		if !d.Fixed() {
			d.Own = edit.Editor{}
		}
		d.at = max(min(d.at+by, n-1), 0)
		d.toMarked()
		return
	}
	d.Scroll(by)
}

// toMarked has the next drawing begin where the marked choice is seen, when the choices scroll
// along with the text.
func (d *Dialog) toMarked() {
	if text := len(d.text(max(d.w, 1))); d.along(d.w, d.room) && d.seen >= d.needed(text) {
		_, last := d.rowsOfMarked(d.w)
		d.scrolled = max(d.scrolled, text+last-d.room)
		d.scrolled = min(d.scrolled, text+last-1)
	}
}

// needed is how many rows of the question have to be seen.
func (d *Dialog) needed(text int) int {
	if d.queue[0].Decides {
		return text
	}
	return min(text, fewest)
}

// Unseen says why the marked choice cannot be taken yet; if empty, the rows that decide were in the
// window. An answer in other words can be sent at any time.
func (d *Dialog) Unseen() string {
	if !d.Open() || d.marked() < 0 {
		return ""
	}
	left := d.needed(len(d.text(max(d.w, 1)))) - d.seen
	switch {
	case left > 0 && d.room == 0:
		return "the window is too small to show the question: enlarge it, or " + d.keys.Stop
	case left > 0:
		return fmt.Sprintf("%s not seen yet: %s shows more", plural.Of(left, "row"), d.keys.Down)
	case !d.onMarked:
		return "the marked choice is not in view: " + d.keys.Down + " shows it"
	}
	return ""
}

// Scroll moves the question, by no more rows than the window has, so that none is passed over.
func (d *Dialog) Scroll(by int) {
	by = min(max(by, -max(d.room, 1)), max(d.room, 1))
	d.scrolled = max(d.scrolled+min(by, d.hidden), 0)
}

// foot is how many rows stand below the question and its choices: the user's own words, and the
// keys.
const foot = 2

// Want is how many rows the dialog would like.
func (d *Dialog) Want(w int) int {
	if !d.Open() {
		return 0
	}
	return 1 + len(d.text(w)) + len(d.choices(w)) + foot
}

// text is the question; nothing in it is cut, and hidden characters are written out.
func (d *Dialog) text(w int) ui.Laid {
	q := d.queue[0]
	if q.Markdown {
		if d.prose == nil {
			d.prose = &draw.Prose{}
			d.prose.Add(safeterm.Reveal(strings.TrimSpace(q.Text)).String())
			d.prose.End()
		}
		return slices.Clone(d.prose.Rows(d.theme, w))
	}
	var rows ui.Laid
	for _, line := range safeterm.Reveal(strings.TrimSpace(q.Text)).Lines() {
		rows = d.theme.Wrap(rows, w, draw.Margins{}, draw.Span{Style: draw.Plain, Text: line})
	}
	return rows
}

// choices are what can be marked, behind an empty row.
func (d *Dialog) choices(w int) ui.Laid {
	rows, _, _ := d.layChoices(w)
	return rows
}

// rowsOfMarked are the first row of the marked choice among the rows of choices, and the one behind
// its last.
func (d *Dialog) rowsOfMarked(w int) (first, end int) {
	_, first, end = d.layChoices(w)
	return first, end
}

func (d *Dialog) layChoices(w int) (rows ui.Laid, from, end int) {
	q := d.queue[0]
	if len(q.Choices) > 0 {
		rows = append(rows, draw.Row{})
	}
	if q.Said != "" {
		rows = d.theme.Wrap(rows, w, draw.Margins{}, draw.Span{Style: draw.Warn, Text: safeterm.Name(q.Said)})
	}
	marked := d.marked()
	for i, choice := range q.Choices {
		mark, style := "  ", draw.Plain
		if i == marked {
			mark, style = "▸ ", draw.Bold
		}
		first := d.theme.Pen().Fixed(draw.Accent, mark).Put(draw.Key, safeterm.Name(strconv.Itoa(i+1)+" ")).Done()
		rest := d.theme.Pen().Pad(first.Width()).Done()
		before := len(rows)
		rows = d.theme.Wrap(rows, w, draw.Margins{First: first, Rest: rest}, draw.Span{Style: style, Text: safeterm.Name(choice)})
		if i == marked {
			from, end = before, len(rows)
		}
	}
	return rows, from, end
}

// along reports whether the choices scroll along with the text, because the window is small.
func (d *Dialog) along(w, room int) bool { return len(d.choices(max(w, 1))) > room/2 }

// marked is the choice that would be sent; if -1, none of them.
func (d *Dialog) marked() int {
	return slices.Index(d.queue[0].Choices, d.Answer())
}

// Render draws the first question, and says where the cursor is.
func (d *Dialog) Render(w, h int) (rows []draw.Row, x, y int) {
	rows = append(rows, d.title(w))
	body, below := d.text(w), d.choices(w)
	if d.w != w { // rows are others now
		d.seen = min(d.seen, d.scrolled)
	}
	text := len(body)
	room := max(h-1-foot, 1)
	d.w, d.room, d.onMarked = w, room, true
	along := d.along(w, room)
	if along {
		body, below = append(body, below...), nil
	}
	room -= len(below)
	d.scrolled = min(d.scrolled, max(len(body)-room, 0))
	d.hidden = max(len(body)-room-d.scrolled, 0)
	if d.scrolled <= d.seen {
		d.seen = max(d.seen, min(d.scrolled+room, text))
	}
	if first, end := d.rowsOfMarked(w); along && end > first {
		d.onMarked = d.scrolled <= text+first && text+min(end, first+room) <= d.scrolled+room
	}
	rows = append(rows, body[d.scrolled:min(d.scrolled+room, len(body))]...)
	rows = append(rows, below...)
	lead := d.lead()
	own, x, line := d.Own.Rows(d.theme, max(w-lead.Width(), 1))
	rows = append(rows, d.theme.Pen().Row(lead).Row(own[line]).Done())
	return append(rows, d.help(w, len(body))), x + lead.Width(), len(rows) - 1
}

// lead stands before the user's own words.
func (d *Dialog) lead() draw.Row {
	q, text := d.queue[0], "or in your words"
	switch {
	case d.Fixed():
		text = "for the prompt"
	case q.Other != "":
		text = q.Other
	case len(q.Choices) == 0:
		text = "your answer"
	}
	return d.theme.Pen().Put(draw.Key, safeterm.Name(text+": ")).Done()
}

func (d *Dialog) title(w int) draw.Row {
	text := cmp.Or(d.queue[0].Title, "the model asks")
	if agent := d.queue[0].Agent; agent != "" {
		text = "the subagent " + agent + " asks"
	}
	if n := len(d.queue) - 1; n > 0 {
		text += " · " + plural.Of(n, "more question")
	}
	return d.theme.Pen().Fixed(draw.Warn, "━━ ").Put(draw.Bold, safeterm.Name(text)).Fixed(draw.Plain, " ").Rule(draw.Warn, w).Done().Fit(w)
}

// help is the row of keys, or what to know before they act.
func (d *Dialog) help(w, total int) draw.Row {
	switch {
	case !d.Ready():
		return d.theme.Line(draw.Dim, safeterm.Fixed("keys act in a moment…")).Fit(w)
	case d.hidden > 0 || d.scrolled > 0:
		rows := ui.RowsOf(d.scrolled, total-d.hidden, total)
		text := rows + fmt.Sprintf(" · %s and %s show the rest · %s: answer", d.keys.Up, d.keys.Down, d.keys.Send)
		if len(text) > w { // what answers is seen in any case
			text = fmt.Sprintf("%s: answer · %s %s · %s", d.keys.Send, d.keys.Up, d.keys.Down, rows)
		}
		return d.theme.Line(draw.Warn, safeterm.Name(text)).Fit(w)
	}
	if long := d.keysOf("   ", d.keys.Marks+" or a number", " stop the agent"); long.Width() <= w {
		return long
	}
	return d.keysOf("  ", d.keys.Marks, " stop").Fit(w)
}

func (d *Dialog) keysOf(gap, marks, stops string) draw.Row {
	does := "answer"
	if d.Fixed() && d.Answer() == "" {
		does = "keep for the prompt"
	}
	pen := d.theme.Pen().Put(draw.Key, safeterm.Name(d.keys.Send)).Put(draw.Plain, safeterm.Name(" "+does))
	if len(d.queue[0].Choices) > 0 {
		pen.Fixed(draw.Plain, gap).Put(draw.Key, safeterm.Name(marks)).Fixed(draw.Plain, " choose")
	}
	return pen.Fixed(draw.Plain, gap).Put(draw.Key, safeterm.Name(d.keys.Stop)).Fixed(draw.Plain, stops).Done()
}
