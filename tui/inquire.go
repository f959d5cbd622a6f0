package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/internal/stream/ask"
	"adze/tui/async"
	"adze/tui/draw"
	"adze/tui/permission"
	"adze/tui/prompt"
	"adze/tui/question"
	"adze/tui/ui"
)

// questions shows questions to the user: permission requests and questions from the model.
type questions struct {
	host
	settings *settings
	dialog   *permission.Dialog
	inquiry  *question.Dialog
	prompt   *prompt.Line // gets text written for another purpose
}

func newQuestions(h host, s *settings, t *draw.Theme, labels permission.Labels, cwd string) *questions {
	own := question.Labels{Send: h.label(sendReply), Stop: h.label(stop), Down: h.label(pageDown), Up: h.label(pageUp), Marks: arrows(h.labelOf("inquiry.up")) + " " + arrows(h.labelOf("inquiry.down"))}
	return &questions{host: h, settings: s, dialog: permission.New(t, h.clock, labels, cwd), inquiry: question.New(t, h.clock, permission.Guard, own)}
}

// add adds a question; take removes one.
func (q *questions) add(asked any) tea.Cmd {
	switch asked := asked.(type) {
	case *permission.Asked:
		q.dialog.Add(asked)
	case *question.Asked:
		q.inquiry.Add(asked)
	}
	return q.guard()
}

func (q *questions) take(back any) {
	switch back := back.(type) {
	case permission.Unasked:
		q.dialog.Remove(back.Asked)
		q.seen()
	case question.Unasked:
		if q.inquiry.First() == back.Asked {
			handBack(q.inquiry, q.prompt)
		}
		q.inquiry.Remove(back.Asked)
	}
}

func (q *questions) canModes() string { return q.settings.canModes() }

func (q *questions) nextMode() tea.Cmd { return q.settings.nextMode() }

// guard redraws when the open question begins to accept keys.
func (q *questions) guard() tea.Cmd {
	if !q.asks() || q.ready() {
		return nil
	}
	return q.later(permission.Guard, async.Continuation(func() tea.Cmd { return nil }))
}

// asks reports whether a question waits.
func (q *questions) asks() bool { return q.dialog.Open() || q.inquiry.Open() }

// ready reports whether the visible question accepts keys.
func (q *questions) ready() bool {
	if q.dialog.Open() {
		return q.dialog.Ready()
	}
	return q.inquiry.Ready()
}

// holdOff ignores keys for a moment.
func (q *questions) holdOff() {
	if q.dialog.Open() {
		q.dialog.HoldOff()
	}
	if q.inquiry.Open() {
		q.inquiry.HoldOff()
	}
}

// seen delays keys for a model's question that has just become visible behind a permission request.
func (q *questions) seen() {
	if !q.dialog.Open() && q.inquiry.Open() {
		q.inquiry.HoldOff()
	}
}

// render draws the first question; permission requests come before the model's.
func (q *questions) render(r ui.Rect) (rows []draw.Row, x, y int) {
	if q.dialog.Open() {
		return q.dialog.Render(r.W, r.H)
	}
	return q.inquiry.Render(r.W, r.H)
}

// want returns the question's preferred height, or 0 if none waits.
func (q *questions) want(w int) int {
	if q.dialog.Open() {
		return q.dialog.Want(w)
	}
	return q.inquiry.Want(w)
}

// dismiss answers the visible question with no, without ending a turn. It returns false if there is
// none.
func (q *questions) dismiss() bool {
	switch {
	case q.dialog.Open():
		q.dialog.Answer(ask.Answer{Choice: ask.Deny})
		q.seen()
	case q.inquiry.Open():
		handBack(q.inquiry, q.prompt)
		q.inquiry.Reply(question.Reply{Refused: true})
	default:
		return false
	}
	return true
}

// scope returns the scope of the visible question; ok is false if it does not accept keys. Below
// help, it counts as well before it accepts keys.
func (q *questions) scope(help bool) (s scope, ok bool) {
	if q.dialog.Ready() || help && q.dialog.Open() {
		return map[permission.Step]scope{permission.AtQuestion: inDialog, permission.AtReason: inReason,
			permission.AtText: inText, permission.AtHunks: inHunks}[q.dialog.Step()], true
	}
	return inInquiry, !q.dialog.Open() && (q.inquiry.Ready() || help && q.inquiry.Open())
}

// handBack moves text that was written for the prompt, while a question was open, back to the
// prompt.
func handBack(from *question.Dialog, to *prompt.Line) (given bool) {
	text := from.TakeUnused()
	if text != "" {
		to.Restore(text)
	}
	return text != ""
}

func (q *questions) canReply() string {
	if q.inquiry.Fixed() && q.inquiry.Answer() == "" {
		return ""
	}
	if q.inquiry.Answer() == "" {
		return "write an answer first; " + q.label(stop) + " stops the agent"
	}
	return q.inquiry.Unseen()
}

// reply sends the answer. Text that was not meant as an answer goes to the prompt.
func (q *questions) reply() tea.Cmd {
	if handBack(q.inquiry, q.prompt) {
		q.showMessage("kept for the prompt; " + q.label(sendReply) + " answers")
		return nil
	}
	q.inquiry.Reply(question.Reply{Text: q.inquiry.Answer()})
	return q.guard()
}

func (q *questions) inquiryKeys(e commonKeys) []binding {
	move := func(by int) func() tea.Cmd {
		return func() tea.Cmd { q.inquiry.Move(by); return nil }
	}
	scroll := func(by int) func() tea.Cmd {
		return func() tea.Cmd { q.inquiry.Scroll(by); return nil }
	}
	return []binding{
		{id: "inquiry.answer", action: sendReply, scope: inInquiry, Binding: ui.Key("answer with your words, or with the marked choice", "enter"), can: q.canReply, run: q.reply},
		{id: "stop", action: stop, scope: inInquiry, Binding: ui.Key("no answer, and stop the agent", "esc"), run: e.stop},
		{id: "interrupt", action: quit, scope: inInquiry, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), run: e.interrupt},
		{id: "help", action: showHelp, scope: inInquiry, Binding: ui.KeyNamed("F1", "all keys", "f1"), run: e.help},
		{id: "inquiry.up", action: lineUp, scope: inInquiry, Binding: ui.Key("the choice above", "up"), run: move(-1)},
		{id: "inquiry.down", action: lineDown, scope: inInquiry, Binding: ui.Key("the choice below", "down"), run: move(1)},
		{id: "page-up", action: pageUp, scope: inInquiry, Binding: ui.KeyNamed("PgUp", "scroll the question", "pgup"), run: scroll(-5)},
		{id: "page-down", action: pageDown, scope: inInquiry, Binding: ui.KeyNamed("PgDn", "scroll the question", "pgdown"), run: scroll(5)},
	}
}
