package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/stream/ask"
	"adze/tui/async"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/permission"
	"adze/tui/question"
	"adze/tui/ui"
)

// questions shows questions to the user: permission requests and questions from the model.
type questions struct {
	keyGuard
	settings *settings
	dialog   *permission.Dialog
	inquiry  *question.Dialog
	visible  any       // the visible question at the last look
	redrawAt time.Time // armed at the last look
}

// keyGuard keeps keys for another purpose from a question. Once the user has begun a message, keys
// go to it until it is sent or escape gives them to the question.
type keyGuard struct {
	host
	hasMessage    func() bool
	keysToMessage bool
	armed         time.Time // keys answer from this time on
}

func newQuestions(h host, s *settings, t *draw.Theme, labels permission.Labels, cwd string) *questions {
	own := question.Labels{Send: h.label(sendReply), Stop: h.label(stop), Down: h.label(pageDown), Up: h.label(pageUp), Marks: arrows(h.labelOf("inquiry.up")) + " " + arrows(h.labelOf("inquiry.down"))}
	return &questions{keyGuard: keyGuard{host: h}, settings: s, dialog: permission.New(t, labels, cwd), inquiry: question.New(t, own)}
}

// add adds a question; take removes one.
func (q *questions) add(asked any) {
	switch asked := asked.(type) {
	case *permission.Asked:
		q.dialog.Add(asked)
	case *question.Asked:
		q.inquiry.Add(asked)
	}
}

func (q *questions) take(back any) {
	switch back := back.(type) {
	case permission.Unasked:
		q.dialog.Remove(back.Asked)
	case question.Unasked:
		q.inquiry.Remove(back.Asked)
	}
}

// look delays keys for a question that has just become visible, and redraws when they answer. It
// runs after every message.
func (q *questions) look() tea.Cmd {
	var now any
	switch {
	case q.dialog.Open():
		now = q.dialog.First()
	case q.inquiry.Open():
		now = q.inquiry.First()
	}
	q.keysToMessage = now != nil && (q.keysToMessage || q.visible == nil && q.hasMessage())
	if now != q.visible {
		q.visible = now
		q.holdOff()
	}
	if !q.asks() || q.redrawAt == q.armed {
		return nil
	}
	q.redrawAt = q.armed
	return q.later(permission.Guard, async.Continuation(func() tea.Cmd { return nil }))
}

// asks reports whether a question waits.
func (q *questions) asks() bool { return q.dialog.Open() || q.inquiry.Open() }

// wait returns why keys do not answer now, or "".
func (q *keyGuard) wait() string {
	switch {
	case q.clock().Before(q.armed):
		return "keys act in a moment…"
	case q.keysToMessage:
		return "keys go to your message · " + q.label(stop) + " answers"
	}
	return ""
}

// holdOff ignores keys for a moment.
func (q *keyGuard) holdOff() { q.armed = q.clock().Add(permission.Guard) }

// afterKey leaves keys with a message; had reports whether there was one before the key, and edits
// whether the key edits.
func (q *keyGuard) afterKey(had, edits bool) {
	switch has := q.hasMessage(); {
	case has && (edits || !had):
		q.keysToMessage = true
	case had && !has && !edits: // sent
		q.keysToMessage = false
		q.holdOff()
	}
}

// answer gives keys to the visible question and reports whether a message had them.
func (q *keyGuard) answer() bool {
	if q.clock().Before(q.armed) {
		return false
	}
	had := q.keysToMessage
	q.keysToMessage = false
	return had
}

// render draws the first question; permission requests come before the model's.
func (q *questions) render(r ui.Rect) (rows []draw.Row, x, y int) {
	q.dialog.Wait, q.inquiry.Wait = q.wait(), q.wait()
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
	case q.inquiry.Open():
		q.inquiry.Reply(question.Reply{Refused: true})
	default:
		return false
	}
	return true
}

// scope returns the scope of the visible question; ok is false if it does not accept keys. Below
// help, it counts as well before it accepts keys.
func (q *questions) scope(help bool) (s scope, ok bool) {
	if ok = q.asks() && (q.wait() == "" || help && !q.keysToMessage); !q.dialog.Open() {
		return inInquiry, ok
	}
	return map[permission.Step]scope{permission.AtQuestion: inDialog, permission.AtReason: inReason,
		permission.AtText: inText, permission.AtHunks: inHunks}[q.dialog.Step()], ok
}

func (q *questions) canReply() string {
	if q.inquiry.Answer() == "" {
		return "write an answer first; " + q.label(stop) + " stops the agent"
	}
	return q.inquiry.Unseen()
}

// strays reports whether a typed text begins a message, because it means nothing in the scope.
func (q *questions) strays(s scope, text string, fixedList bool) bool {
	return edit.Types(text) && (!s.writes() || s == inInquiry && !q.inquiry.Takes(text) || s == inPicker && fixedList)
}

// reply sends the answer.
func (q *questions) reply() tea.Cmd {
	q.inquiry.Reply(question.Reply{Text: q.inquiry.Answer()})
	return nil
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
		{id: "inquiry.up", action: lineUp, scope: inInquiry, Binding: ui.Key("the choice above", "up"), run: move(-1)},
		{id: "inquiry.down", action: lineDown, scope: inInquiry, Binding: ui.Key("the choice below", "down"), run: move(1)},
		{id: "page-up", action: pageUp, scope: inInquiry, Binding: ui.KeyNamed("PgUp", "scroll the question", "pgup"), run: scroll(-5)},
		{id: "page-down", action: pageDown, scope: inInquiry, Binding: ui.KeyNamed("PgDn", "scroll the question", "pgdown"), run: scroll(5)},
	}
}
