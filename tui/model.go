package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/session"
	"adze/tui/input"
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
	changes    *changes
	ledger     *ledger
	prompt     *prompt
	dialog     *permission
	view       *view
	picker     *picker
	help       help
	first      *first // nil: a model is there
	status     *status

	colours   colours
	inline    inline
	turn      turn
	mouse     bool
	away      bool   // the terminal does not have the focus
	said      string // by us, until the next key
	armed     action // what a key will do when it is pressed again: quit or stop; send: none is
	arming    int
	leaving   bool
	stopped   bool // the last turn was stopped by the person, and nothing was done since
	rewinding bool
	next      Next
	redrawn   int // how often the person asked for a fresh screen

	// Ports to the outside; fakes in tests.
	now       func() time.Time
	after     func(time.Duration, tea.Msg) tea.Cmd
	ports     Ports
	start     func(ctx context.Context, j job) // runs a turn; its end comes as turnDone
	external  func(text string) tea.Cmd        // the person's editor; its answer comes as edited; nil: there is none
	clipboard func(safeterm.Text)
	notify    func(screen.Note)
	show      func(screen.Frame)
	// askBackground asks the terminal for its background; the answer comes as tea.BackgroundColorMsg.
	askBackground func()
	background    func()            // stops the process until it is continued; nil: cannot
	foreground    func() (w, h int) // how large the terminal is when it is ours again
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
	cmds := []tea.Cmd{m.askGround(), m.lookForBranch()}
	if m.first != nil {
		return tea.Batch(append(cmds, m.first.look())...)
	}
	if past := m.ports.Past; past != nil {
		m.prompt.await()
		cmds = append(cmds, func() tea.Msg { return pastPrompts(past()) })
	}
	if m.info.Prompt != "" {
		cmds = append(cmds, m.begin(job{prompt: Prompt{Text: m.info.Prompt}}))
	}
	return tea.Batch(cmds...)
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
		cmd = m.paste(msg.Content)
	case tea.MouseWheelMsg:
		m.wheel(msg.Button)
		cmd = m.follow()
	case tea.WindowSizeMsg:
		if msg.Width > 0 { // Bubble Tea's own first message knows no size
			cmd = m.resize(msg.Width, msg.Height)
		}
	case peekDue:
		cmd = m.picker.due(msg)
	case second:
		if m.turn.running {
			cmd = m.after(time.Second, second{})
		}
	case disarm:
		if int(msg) == m.arming && m.armed != send {
			m.armed, m.said = send, ""
		}
	case tea.ResumeMsg:
		m.w, m.h = m.foreground()
	case input.TooLong:
		m.say("that paste of " + size(msg.Bytes) + " is too long: nothing of it was taken; write it to a file and name that")
	case tea.FocusMsg, tea.BlurMsg:
		if _, m.away = msg.(tea.BlurMsg); !m.away {
			cmd = m.lookForBranch() // it may have been changed elsewhere
		}
	default:
		m.answered(msg)
	}
	return m, cmd
}

// answered takes what a port answered.
func (m *model) answered(msg tea.Msg) {
	switch msg := msg.(type) {
	case filled:
		m.picker.filled(msg)
	case listed:
		m.prompt.listed(msg, m.now())
	case rewound:
		m.rewound(msg)
	case edited:
		m.edited(msg)
	case dropped:
		m.prompt.dropped(msg)
	case peeked:
		m.picker.peeked(msg)
	case looked:
		m.first.looked(msg)
	case pastPrompts:
		m.prompt.earlier(msg)
	case branch:
		m.status.onBranch(string(msg))
	case tea.BackgroundColorMsg:
		m.grounded(msg.IsDark())
	case picture:
		m.pictured(msg)
	}
}

// View hands the frame to the screen; Bubble Tea draws nothing itself.
func (m *model) View() tea.View {
	m.show(m.present())
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
			cmds = append(cmds, m.guardTimer(), m.tell(screen.NoteAsk))
		case unasked:
			m.dialog.remove(x.asked)
		case turnDone:
			cmds = append(cmds, m.done(x.result))
		}
	}
	return tea.Batch(cmds...)
}

// apply shows an event to every pane. What a subagent's call does is shown while it runs, and what it changed
// in files; the conversation, its todos and its context hold only the report.
func (m *model) apply(e session.Event) tea.Cmd {
	m.activity.Apply(e)
	m.changes.Apply(e)
	if !ofSubagent(e) {
		m.transcript.Apply(e)
		m.todos.Apply(e)
		m.ledger.Apply(e)
		m.prompt.Apply(e)
		m.status.Apply(e)
	}
	switch e := e.(type) {
	case session.ToolStart, session.CallForming:
		return m.after(showAfter, redraw{})
	case session.ToolEnd:
		if mayMoveHead(e.Outcome) {
			return m.lookForBranch()
		}
	case session.MessageDone:
		m.turn.heard = m.turn.heard || e.Message.Role == session.User && e.Message.Own == "" && !e.Message.Note
	case session.TurnEnd:
		m.turn.ended = true
	}
	return nil
}

// ofSubagent reports an event of a call that a subagent made.
func ofSubagent(e session.Event) bool {
	switch e := e.(type) {
	case session.ToolStart:
		return e.Parent != ""
	case session.ToolUpdate:
		return e.Parent != ""
	case session.ToolAsk:
		return e.Parent != ""
	case session.ToolEnd:
		return e.Parent != ""
	}
	return false
}

// wants asks the panes how many rows they would like.
func (m *model) wants() Wants {
	side := sideWidth(m.w)
	return Wants{
		Activity: m.activity.Want(side), Todos: m.todos.Want(),
		Dialog: m.dialog.Want(m.w), Prompt: m.prompt.Want(m.w), Menu: m.prompt.menu.Want(),
		Over: m.picker.open || m.view.open(),
	}
}

var _ tea.Model = (*model)(nil)

// newModel puts the panes together and draws the history of a resumed session.
func newModel(o Options) *model {
	d := &drawing{theme: coloursOf(o).theme(), blocks: o.Blocks}
	m := &model{info: o.Info, draw: d, colours: coloursOf(o), keys: newKeymap(), ports: o.Ports, mouse: true, now: time.Now}
	m.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		return tea.Tick(d, func(time.Time) tea.Msg { return msg })
	}
	d.expand = m.keys.label(expand)
	m.show, m.askBackground = func(screen.Frame) {}, func() {}
	m.clipboard, m.notify = func(safeterm.Text) {}, func(screen.Note) {}
	m.foreground = func() (int, int) { return m.w, m.h }
	clock := func() time.Time { return m.now() }
	m.transcript = newTranscript(d, m.welcome)
	m.activity = newActivity(d, clock)
	m.todos = newTodos(d)
	m.changes = newChanges(d)
	m.ledger = newLedger(d, clock)
	m.prompt = newPrompt(d.theme, o.Vim, func(start string) []choice { return commandChoices(m, start) })
	m.picker = newPicker(d.theme)
	m.view = newView(d.theme, m.keys.label(closePane))
	m.dialog = newDialog(d.theme, clock, m.keys.ofDialog(), o.Info.Cwd)
	m.status = newStatus(d.theme, statusFacts{mode: o.Info.Mode, model: o.Info.Model, session: o.Info.Session, sandbox: o.Info.Sandbox})
	m.first = newFirst(o.First, d.theme)
	for _, e := range o.History {
		m.apply(e)
	}
	if m.inline.on = o.Inline; o.Inline && o.Shown {
		m.inline.written = m.transcript.Len()
	}
	m.activity.reset()
	return m
}
