package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/tui/draw"
	"adze/tui/screen"
)

// model is the one tea.Model. Panes are plain structs: they take events and draw themselves; what a key
// does is in act.go, which key does it in keys.go, where a pane stands in arrange.go.
type model struct {
	info Info
	draw *drawing
	w, h int
	keys *keymap

	transcript *transcript
	activity   *activity
	todos      *todos
	prompt     *prompt
	dialog     *permission
	help       help
	status     *status

	turn    turn
	mouse   bool
	said    string // by us, until the next key
	armed   bool   // ctrl+c was the last key
	arming  int
	leaving bool
	redrawn int // how often the person asked for a fresh screen

	// Ports to the outside; fakes in tests.
	now        func() time.Time
	after      func(time.Duration, tea.Msg) tea.Cmd
	start      func(ctx context.Context, text string) // runs a turn; its end comes as turnDone
	show       func(screen.Frame)
	background func()            // gives the terminal back before a suspension; nil: cannot
	foreground func() (w, h int) // takes it again
}

// turn is one prompt being worked on.
type turn struct {
	running, stopping bool
	ended             bool // its TurnEnd was seen
	since             time.Time
	cancel            context.CancelFunc
}

// Messages of our own.
type (
	batch    []any    // what the bridge gathered
	turnDone struct { // the last thing of a turn
		result session.Result
	}
	unasked struct{ *asked } // a question whose call has ended
	second  struct{}         // the clock of a running turn
	disarm  int
	redraw  struct{}
)

func (m *model) Init() tea.Cmd {
	if m.info.Prompt == "" {
		return nil
	}
	return m.begin(m.info.Prompt)
}

// Update takes one message. Every key goes through the key table, every event through every pane.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case batch:
		cmd = m.take(msg)
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.MouseWheelMsg:
		m.wheel(msg.Button)
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case second:
		if m.turn.running {
			cmd = m.after(time.Second, second{})
		}
	case disarm:
		if int(msg) == m.arming && m.armed {
			m.armed, m.said = false, ""
		}
	case tea.ResumeMsg:
		m.w, m.h = m.foreground()
	}
	return m, cmd
}

// View hands the frame to the screen; Bubble Tea draws nothing itself.
func (m *model) View() tea.View {
	m.show(m.frame())
	return tea.View{}
}

// take applies a batch in order.
func (m *model) take(b batch) tea.Cmd {
	var cmds []tea.Cmd
	for _, x := range b {
		switch x := x.(type) {
		case session.Event:
			cmds = append(cmds, m.apply(x))
		case *asked:
			m.dialog.add(x)
			cmds = append(cmds, m.guardTimer())
		case unasked:
			m.dialog.remove(x.asked)
		case turnDone:
			cmds = append(cmds, m.done(x.result))
		}
	}
	return tea.Batch(cmds...)
}

// apply shows an event to every pane.
func (m *model) apply(e session.Event) tea.Cmd {
	m.transcript.Apply(e)
	m.activity.Apply(e)
	m.todos.Apply(e)
	m.prompt.Apply(e)
	m.status.Apply(e)
	switch e.(type) {
	case session.ToolStart, session.CallForming:
		return m.after(showAfter, redraw{})
	case session.TurnEnd:
		m.turn.ended = true
	}
	return nil
}

// begin starts a turn.
func (m *model) begin(text string) tea.Cmd {
	ctx, cancel := context.WithCancel(context.Background())
	m.turn = turn{running: true, since: m.now(), cancel: cancel}
	m.start(ctx, text)
	return m.after(time.Second, second{})
}

// done ends a turn. After a good end the next message goes out; else what waits returns to the prompt.
func (m *model) done(r session.Result) tea.Cmd {
	if !m.turn.ended { // it failed before it began
		m.apply(session.TurnEnd{Result: r})
	}
	m.turn.cancel()
	m.turn = turn{}
	if m.leaving {
		return tea.Quit
	}
	if r.Cause != session.CauseDone {
		m.prompt.unqueue()
		return nil
	}
	if next, ok := m.prompt.next(); ok {
		return m.begin(next)
	}
	return nil
}

// key obeys the key table. Keys that write go to the editor that has the cursor.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	s := m.scope()
	m.said = ""
	if s == inPrompt && m.dialog.open() {
		m.dialog.holdOff() // still writing: the dialog waits
	}
	b, reason := m.keys.find(m, s, msg.String())
	if b == nil || b.action != quit {
		m.armed = false
	}
	cmd := m.guardTimer()
	switch {
	case b != nil:
		return tea.Batch(cmd, b.do(m))
	case typed(msg.Text) && (s == inPrompt || s == inReason):
		e, _ := m.editor()
		e.insert(msg.Text)
	case reason != "":
		m.say(reason)
	}
	return cmd
}

// scope is whose keys act.
func (m *model) scope() scope {
	switch {
	case m.help.open:
		return inHelp
	case m.dialog.ready() && m.dialog.reasoning:
		return inReason
	case m.dialog.ready():
		return inDialog
	}
	return inPrompt
}

// under is the scope below help.
func (m *model) under() scope {
	if m.dialog.open() {
		return inDialog
	}
	return inPrompt
}

// guardTimer draws again when the open dialog begins to take keys.
func (m *model) guardTimer() tea.Cmd {
	if !m.dialog.open() || m.dialog.ready() {
		return nil
	}
	return m.after(guard, redraw{})
}

func (m *model) say(text string) { m.said = text }

// paste never sends and never answers.
func (m *model) paste(text string) {
	if m.scope() == inReason {
		m.dialog.reason.insert(text)
		return
	}
	m.prompt.paste(text)
}

func (m *model) wheel(b tea.MouseButton) {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -3, tea.MouseWheelDown: 3}[b]
	if m.help.open {
		m.help.top = max(m.help.top+by, 0)
		return
	}
	m.transcript.scroll(m.draw, by)
}

// wants asks the panes how many rows they would like.
func (m *model) wants() Wants {
	side := sideWidth(m.w)
	return Wants{
		Activity: m.activity.Want(side), Todos: m.todos.Want(),
		Dialog: m.dialog.Want(m.w), Prompt: m.prompt.Want(m.w),
	}
}

var _ tea.Model = (*model)(nil)

// newModel puts the panes together and draws the history of a resumed session.
func newModel(o Options) *model {
	d := &drawing{theme: draw.ThemeFor(o.Env), blocks: o.Blocks}
	m := &model{info: o.Info, draw: d, keys: newKeymap(), mouse: true, now: time.Now}
	m.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		return tea.Tick(d, func(time.Time) tea.Msg { return msg })
	}
	d.expand = m.keys.label(expand)
	m.show = func(screen.Frame) {}
	m.foreground = func() (int, int) { return m.w, m.h }
	clock := func() time.Time { return m.now() }
	m.transcript = newTranscript(d, m.welcome)
	m.activity = &activity{draw: d, now: clock}
	m.todos = &todos{draw: d}
	m.prompt = &prompt{theme: d.theme}
	m.dialog = &permission{theme: d.theme, now: clock, label: m.keys.label}
	m.status = &status{theme: d.theme, info: o.Info}
	for _, e := range o.History {
		m.apply(e)
	}
	m.activity.running = nil
	return m
}
