// Package question is the dialog for a question from the model: choices, and a line for a free
// answer.
//
// The one rule: the dialog never hides a part of a question without a hint, and a key pressed for
// another purpose never answers it.
//
// Start reading at Dialog.Render. Known limits: questions are answered one by one, in order.
package question

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/stream/ask"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/ui"
)

// Asked is a waiting question.
type Asked struct {
	ask.Question
	Reply chan Reply // buffered, capacity 1
}

// Reply is the user's reply.
type Reply struct {
	Text    string
	Refused bool // the user declines to answer
}

// Unasked withdraws a question after its call has ended.
type Unasked struct{ *Asked }

// Labels name the keys.
type Labels struct{ Send, Stop, Down, Up, Marks string }

// Dialog shows the first waiting question.
type Dialog struct {
	theme *draw.Theme
	keys  Labels
	queue []*Asked
	Wait  string // why keys do not answer now, or ""
	// FreeAnswer is the user's free answer.
	FreeAnswer edit.Editor
	at         int // index of the selected choice
	scrolled   int
	hidden     int         // rows below the window when last drawn
	windowRows int         // window rows when last drawn
	w          int         // window width
	rowsSeen   int         // question rows shown so far, from the first
	onMarked   bool        // the selected choice is visible
	prose      *draw.Prose // the question as Markdown; nil until drawn
}

// fewest is how many rows must be shown before a choice can be taken, if the question has that
// many.
const fewest = 10

// New returns an empty dialog with labels for its keys.
func New(t *draw.Theme, k Labels) *Dialog { return &Dialog{theme: t, keys: k} }

// Open reports whether a question waits.
func (d *Dialog) Open() bool { return len(d.queue) > 0 }

// First returns the shown question, or nil.
func (d *Dialog) First() *Asked {
	if !d.Open() {
		return nil
	}
	return d.queue[0]
}

// Add queues a question.
func (d *Dialog) Add(a *Asked) {
	d.queue = append(d.queue, a)
	if len(d.queue) == 1 {
		d.begin()
	}
}

func (d *Dialog) begin() {
	d.FreeAnswer, d.at, d.scrolled, d.rowsSeen, d.prose = edit.Editor{}, 0, 0, 0, nil
}

// Remove withdraws a question after its call has ended.
func (d *Dialog) Remove(a *Asked) {
	first := d.First() == a
	d.queue = slices.DeleteFunc(d.queue, func(b *Asked) bool { return a == b })
	if first {
		d.begin()
	}
}

// Answer returns the current answer: the written text, unless it is a choice's number; without text
// the selected choice. It returns "" if there is none yet.
func (d *Dialog) Answer() string { return d.AnswerFor(d.FreeAnswer.Text) }

// AnswerFor returns the answer for a line: a choice by its number, the text itself, or for an empty
// line the selected choice.
func (d *Dialog) AnswerFor(line string) string {
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

// ReplyByNumber sends the choice whose number is the line, once it is seen. A blank before a number
// begins an answer in the user's words.
func (d *Dialog) ReplyByNumber() {
	n, err := strconv.Atoi(d.FreeAnswer.Text)
	if most := len(d.queue[0].Choices); err == nil && n >= 1 && n <= most && n*10 > most && d.Unseen() == "" {
		d.Reply(Reply{Text: d.Answer()})
	}
}

// Fixed reports whether only the choices are valid answers.
func (d *Dialog) Fixed() bool {
	return d.Open() && d.queue[0].Decides && len(d.queue[0].Choices) > 0
}

// Takes reports whether the answer may go on with text. To a fixed question, other text is a
// message.
func (d *Dialog) Takes(text string) bool {
	return !d.Fixed() || d.AnswerFor(d.FreeAnswer.Text+text) != ""
}

// TakeUnused removes and returns what was typed for a fixed question.
func (d *Dialog) TakeUnused() (text string) {
	if d.Fixed() {
		text, d.FreeAnswer = d.FreeAnswer.Text, edit.Editor{}
	}
	return text
}

// Reply answers the first question.
func (d *Dialog) Reply(r Reply) {
	d.queue[0].Reply <- r
	d.queue = d.queue[1:]
	d.begin()
}

// Move selects another choice; without choices it scrolls.
func (d *Dialog) Move(by int) {
	if n := len(d.queue[0].Choices); n > 0 {
		d.FreeAnswer = edit.Editor{}
		d.at = max(min(d.at+by, n-1), 0)
		d.toMarked()
		return
	}
	d.Scroll(by)
}

// toMarked scrolls to the selected choice if the choices scroll with the text.
func (d *Dialog) toMarked() {
	if text := len(d.text(max(d.w, 1))); d.along(d.w, d.windowRows) && d.rowsSeen >= d.needed(text) {
		_, _, last := d.layChoices(d.w)
		d.scrolled = max(d.scrolled, text+last-d.windowRows)
		d.scrolled = min(d.scrolled, text+last-1)
	}
}

// needed returns how many question rows must be shown.
func (d *Dialog) needed(text int) int {
	if d.queue[0].Decides {
		return text
	}
	return min(text, fewest)
}

// Unseen returns why the selected choice cannot be taken yet, or "". A free answer can be sent at
// any time.
func (d *Dialog) Unseen() string {
	if !d.Open() || d.marked() < 0 {
		return ""
	}
	left := d.needed(len(d.text(max(d.w, 1)))) - d.rowsSeen
	switch {
	case left > 0 && d.windowRows == 0:
		return "the window is too small to show the question: enlarge it, or " + d.keys.Stop
	case left > 0:
		return fmt.Sprintf("%s not seen yet: %s shows more", plural.Of(left, "row"), d.keys.Down)
	case !d.onMarked:
		return "the marked choice is not in view: " + d.keys.Down + " shows it"
	}
	return ""
}

// Scroll moves the question by at most the window's height, so that no row is skipped.
func (d *Dialog) Scroll(by int) {
	by = min(max(by, -max(d.windowRows, 1)), max(d.windowRows, 1))
	d.scrolled = max(d.scrolled+min(by, d.hidden), 0)
}

// foot is the number of rows below the choices: the free answer and the keys.
const foot = 2

// Want returns the preferred height.
func (d *Dialog) Want(w int) int {
	if !d.Open() {
		return 0
	}
	return 1 + len(d.text(w)) + len(d.choices(w)) + foot
}

// text draws the whole question, with hidden characters written out.
func (d *Dialog) text(w int) ui.RenderedPage {
	q := d.queue[0]
	if q.Markdown {
		if d.prose == nil {
			d.prose = &draw.Prose{}
			d.prose.Add(safeterm.Reveal(strings.TrimSpace(q.Text)).String())
			d.prose.End()
		}
		return slices.Clone(d.prose.Rows(d.theme, w))
	}
	var rows ui.RenderedPage
	for _, line := range safeterm.Reveal(strings.TrimSpace(q.Text)).Lines() {
		rows = d.theme.Wrap(rows, w, draw.Margins{}, draw.Span{Style: draw.Plain, Text: line})
	}
	return rows
}

// choices draws the choices after an empty row.
func (d *Dialog) choices(w int) ui.RenderedPage {
	rows, _, _ := d.layChoices(w)
	return rows
}

// layChoices is choices with the range of the selected choice.
func (d *Dialog) layChoices(w int) (rows ui.RenderedPage, from, end int) {
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
		rows = d.theme.Wrap(rows, w, draw.Margins{First: first, Continuation: rest}, draw.Span{Style: style, Text: safeterm.Name(choice)})
		if i == marked {
			from, end = before, len(rows)
		}
	}
	return rows, from, end
}

// along reports whether the choices scroll with the text, because the window is small.
func (d *Dialog) along(w, room int) bool { return len(d.choices(max(w, 1))) > room/2 }

// marked returns the index of the choice that would be sent, or -1.
func (d *Dialog) marked() int {
	return slices.Index(d.queue[0].Choices, d.Answer())
}

// Render draws the first question and returns the cursor position.
func (d *Dialog) Render(w, h int) (rows []draw.Row, x, y int) {
	rows = append(rows, d.title(w))
	body, below := d.text(w), d.choices(w)
	if d.w != w { // rows differ now
		d.rowsSeen = min(d.rowsSeen, d.scrolled)
	}
	text := len(body)
	room := max(h-1-foot, 1)
	d.w, d.windowRows, d.onMarked = w, room, true
	along := d.along(w, room)
	if along {
		body, below = append(body, below...), nil
	}
	room -= len(below)
	d.scrolled = min(d.scrolled, max(len(body)-room, 0))
	d.hidden = max(len(body)-room-d.scrolled, 0)
	if d.scrolled <= d.rowsSeen {
		d.rowsSeen = max(d.rowsSeen, min(d.scrolled+room, text))
	}
	if _, first, end := d.layChoices(w); along && end > first {
		d.onMarked = d.scrolled <= text+first && text+min(end, first+room) <= d.scrolled+room
	}
	rows = append(rows, body[d.scrolled:min(d.scrolled+room, len(body))]...)
	rows = append(rows, below...)
	lead := d.lead()
	own, x, line := d.FreeAnswer.Rows(d.theme, max(w-lead.Width(), 1))
	rows = append(rows, d.theme.Pen().Row(lead).Row(own[line]).Done())
	return append(rows, d.help(w, len(body))), x + lead.Width(), len(rows) - 1
}

// lead draws the label of the free answer.
func (d *Dialog) lead() draw.Row {
	q, text := d.queue[0], "or in your words"
	switch {
	case d.Fixed():
		text = "number"
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

// help draws the keys, or a hint while they are not available.
func (d *Dialog) help(w, total int) draw.Row {
	switch {
	case d.Wait != "":
		return d.theme.Line(draw.Plain, safeterm.Name(d.Wait)).Fit(w)
	case d.hidden > 0 || d.scrolled > 0:
		rows := ui.RowsOf(d.scrolled, total-d.hidden, total)
		text := rows + fmt.Sprintf(" · %s and %s show the rest · %s: answer", d.keys.Up, d.keys.Down, d.keys.Send)
		if len(text) > w { // the answer key must be visible
			text = fmt.Sprintf("%s: answer · %s %s · %s", d.keys.Send, d.keys.Up, d.keys.Down, rows)
		}
		return d.theme.Line(draw.Warn, safeterm.Name(text)).Fit(w)
	}
	if long := d.keysOf("   ", " answers at once", " stop the agent"); long.Width() <= w {
		return long
	}
	return d.keysOf("  ", " answers", " stop").Fit(w)
}

func (d *Dialog) keysOf(gap, numbers, stops string) draw.Row {
	pen := d.theme.Pen().Put(draw.Key, safeterm.Name(d.keys.Send)).Fixed(draw.Plain, " answer")
	if len(d.queue[0].Choices) > 0 {
		pen.Fixed(draw.Plain, gap).Put(draw.Key, safeterm.Name(d.keys.Marks)).Fixed(draw.Plain, " choose")
		pen.Fixed(draw.Plain, gap).Fixed(draw.Key, "a number").Fixed(draw.Plain, numbers)
	}
	return pen.Fixed(draw.Plain, gap).Put(draw.Key, safeterm.Name(d.keys.Stop)).Fixed(draw.Plain, stops).Done()
}
