package tui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/tui/api"
	"adze/tui/draw"
	"adze/tui/permission"
	"adze/tui/question"
	"adze/tui/ui"
)

// Inquire shows a question of the model and waits for the user, for ctx, or for the end of the
// interface.
func (u *UI) Inquire(ctx context.Context, q question.Question) (string, error) {
	asked := &question.Asked{Question: q, Reply: make(chan question.Reply, 1)}
	u.bridge.push(asked)
	select {
	case r := <-asked.Reply:
		if r.Refused {
			return "", permission.ErrClosed
		}
		return r.Text, nil
	case <-ctx.Done():
		u.bridge.push(question.Unasked{Asked: asked})
		return "", ctx.Err()
	case <-u.gone:
		return "", permission.ErrClosed
	}
}

// questions are what the user is asked: by the gate, and by the model.
type questions struct {
	dialog  *permission.Dialog
	inquiry *question.Dialog
}

func newQuestions(t *draw.Theme, now func() time.Time, k *keymap, cwd string) questions {
	labels := question.Labels{Send: k.label(sendReply), Stop: k.label(stop), Down: k.label(pageDown), Up: k.label(pageUp), Marks: arrows(k.labelOf("inquiry.up")) + " " + arrows(k.labelOf("inquiry.down"))}
	return questions{permission.New(t, now, k.ofDialog(), cwd), question.New(t, now, permission.Guard, labels)}
}

// asks reports whether somebody waits for the user.
func (q questions) asks() bool { return q.dialog.Open() || q.inquiry.Open() }

// ready reports whether keys answer the question that is seen.
func (q questions) ready() bool {
	if q.dialog.Open() {
		return q.dialog.Ready()
	}
	return q.inquiry.Ready()
}

// holdOff lets no key answer for a moment.
func (q questions) holdOff() {
	if q.dialog.Open() {
		q.dialog.HoldOff()
	}
	if q.inquiry.Open() {
		q.inquiry.HoldOff()
	}
}

// seen has a question of the model's be looked at before keys answer it: one of the gate's stood
// before it.
func (q questions) seen() {
	if !q.dialog.Open() && q.inquiry.Open() {
		q.inquiry.HoldOff()
	}
}

// question draws the first that waits: the gate's go before the model's.
func (q questions) question(r ui.Rect) (rows []draw.Row, x, y int) {
	if q.dialog.Open() {
		return q.dialog.Render(r.W, r.H)
	}
	return q.inquiry.Render(r.W, r.H)
}

// want is how many rows the question would like; if 0, none waits.
func (q questions) want(w int) int {
	if q.dialog.Open() {
		return q.dialog.Want(w)
	}
	return q.inquiry.Want(w)
}

// dismiss answers the question that is seen with a no, where no turn ends with it; if false, there
// is none.
func (q questions) dismiss() bool {
	switch {
	case q.dialog.Open():
		q.dialog.Answer(permission.Answer{Choice: permission.Deny})
		q.seen()
	case q.inquiry.Open():
		q.inquiry.Reply(question.Reply{Refused: true})
	default:
		return false
	}
	return true
}

func canReply(m *model) string {
	if m.inquiry.Answer() == "" {
		return "write an answer first; " + m.keys.label(stop) + " stops the agent"
	}
	return m.inquiry.Unseen()
}

func reply(m *model) tea.Cmd {
	m.inquiry.Reply(question.Reply{Text: m.inquiry.Answer()})
	return m.guardTimer()
}

func moveInquiry(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.inquiry.Move(by); return nil }
}

func scrollInquiry(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.inquiry.Scroll(by); return nil }
}

func inquiryKeys() []binding {
	return []binding{
		{id: "inquiry.answer", action: sendReply, scope: inInquiry, Binding: ui.Key("answer with your words, else with the marked choice", "enter"), can: canReply, do: reply},
		{id: "stop", action: stop, scope: inInquiry, Binding: ui.Key("do not answer and stop the agent", "esc"), do: (*model).stop},
		{id: "interrupt", action: quit, scope: inInquiry, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), do: (*model).interrupt},
		{id: "help", action: showHelp, scope: inInquiry, Binding: ui.KeyNamed("F1", "all keys", "f1"), do: (*model).openHelp},
		{id: "inquiry.up", action: lineUp, scope: inInquiry, Binding: ui.Key("the choice above", "up"), do: moveInquiry(-1)},
		{id: "inquiry.down", action: lineDown, scope: inInquiry, Binding: ui.Key("the choice below", "down"), do: moveInquiry(1)},
		{id: "page-up", action: pageUp, scope: inInquiry, Binding: ui.KeyNamed("PgUp", "see more of the question", "pgup"), do: scrollInquiry(-5)},
		{id: "page-down", action: pageDown, scope: inInquiry, Binding: ui.KeyNamed("PgDn", "see more of the question", "pgdown"), do: scrollInquiry(5)},
	}
}

// rewriting is a text that the user is to rewrite in their editor.
type rewriting struct {
	text  string
	reply chan edited // holds one
}

// Write lets the user rewrite a text in their own editor, and waits for it, for ctx, or for the
// end of the interface.
func (u *UI) Write(ctx context.Context, text string) (string, error) {
	w := &rewriting{text, make(chan edited, 1)}
	u.bridge.push(w)
	select {
	case e := <-w.reply:
		return e.text, e.err
	case <-ctx.Done():
		return "", ctx.Err()
	case <-u.gone:
		return "", permission.ErrClosed
	}
}

var errNoEditor = errors.New("no editor can be started here")

func write(m *model, w *rewriting) tea.Cmd {
	if m.external == nil {
		w.reply <- edited{err: errNoEditor}
		return nil
	}
	edit := m.external(w.text)
	return func() tea.Msg {
		e, _ := edit().(edited)
		w.reply <- e
		return tea.ResumeMsg{}
	}
}

// decided is what came of the plan that the user looked at.
type decided struct {
	prompt string
	err    error
}

func canPlan(m *model) string {
	switch {
	case m.ports.Plan == nil:
		return "there are no plans here"
	case m.turn.running:
		return "the agent works; it puts its plan to you"
	}
	return ""
}

// showPlan puts the plan that waits to the user once more.
func showPlan(m *model) tea.Cmd {
	show := m.ports.Plan
	return func() tea.Msg {
		prompt, err := show(context.Background())
		return decided{prompt, err}
	}
}

// carryOut goes on with what the user decided.
func carryOut(m *model, d decided) tea.Cmd {
	switch {
	case errors.Is(d.err, permission.ErrClosed):
		m.say("the plan stays as it is; /plan shows it again")
	case d.err != nil:
		m.say(d.err.Error())
	case d.prompt == "":
		return m.toMode("plan")
	case canPlan(m) == "":
		return m.begin(job{prompt: api.Prompt{Text: d.prompt}})
	}
	return nil
}

// planned shows the mode that goes on with an accepted plan.
func planned(m *model, p session.Plan) {
	if p.State == session.PlanAccepted {
		m.info.Mode = p.Mode
		m.status.InMode(p.Mode)
	}
}
