package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tui/api"
	"adze/tui/draw"
	"adze/tui/firstrun"
	"adze/tui/input"
	"adze/tui/list"
	"adze/tui/pane"
	"adze/tui/permission"
	"adze/tui/prompt"
	"adze/tui/question"
	"adze/tui/screen"
	"adze/tui/transcript"
	"adze/tui/ui"
)

// model is the one tea.Model. Panes are plain structs: they take events and draw themselves; what a
// key does is in act.go, which key does it in keys.go, where a pane stands in arrange.go.
type model struct {
	info Info
	draw *ui.Drawing
	w, h int
	keys *keymap

	transcript *transcript.Pane
	activity   *pane.Activity
	todos      *pane.Todos
	changes    *pane.Changes
	refusals   *pane.Refusals
	ledger     *pane.Ledger
	prompt     *prompt.Line
	questions
	view   *pane.View
	picker *list.List
	help   pane.Help
	first  *firstrun.Screen // nil: a model is there
	status *pane.Status

	colours   colours
	inline    inline
	turn      turn
	mouse     bool
	away      bool   // the terminal does not have the focus
	said      string // by us, until the next key
	armed     action // what a key will do when it is pressed again: quit or stop; send: none is
	arming    int
	leaving   bool
	stopped   bool            // the last turn was stopped by the user, and nothing was done since
	claims    []session.Claim // what the last answer says that the calls do not show
	rewinding bool
	jobsTimed bool // a look at the jobs is due
	next      api.Next
	redrawn   int // how often the user asked for a fresh screen

	// Ports to the outside; fakes in tests.
	now       func() time.Time
	after     func(time.Duration, tea.Msg) tea.Cmd
	ports     api.Ports
	start     func(ctx context.Context, j job) // runs a turn; its end comes as turnDone
	external  func(text string) tea.Cmd        // the user's editor; its answer comes as edited; if nil, there is none
	clipboard func(safeterm.Text)
	notify    func(screen.Note)
	show      func(screen.Frame)
	// askBackground asks the terminal for its background; the answer comes as
	// tea.BackgroundColorMsg.
	askBackground func()
	background    func()            // stops the process until it is continued; if nil, cannot
	foreground    func() (w, h int) // how large the terminal is when it is ours again
}

// Messages of our own.
type (
	batch    []any    // what the bridge gathered
	turnDone struct { // the last thing of a turn
		result session.Result
	}
	second struct{} // the clock of a running turn
	disarm int
	redraw struct{}
)

func (m *model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.askGround(), m.lookForBranch()}
	if m.first != nil {
		return tea.Batch(append(cmds, m.first.Search())...)
	}
	if past := m.ports.Past; past != nil {
		m.prompt.Await()
		cmds = append(cmds, func() tea.Msg { return prompt.Earlier(past()) })
	}
	if m.info.Prompt != "" {
		cmds = append(cmds, m.begin(job{prompt: api.Prompt{Text: m.info.Prompt}}))
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
	case firstrun.Kept:
		cmd = keyKept(m, msg)
	case list.PeekDue, list.SearchDue:
		cmd = m.picker.Timed(msg)
	case jobsDue, jobs, jobEnded, jobLog, served:
		cmd = aboutJobs(m, msg)
	case modelChecked:
		cmd = m.withModel(msg)
	case consented:
		cmd = goOnWith(m, msg)
	case decided:
		cmd = carryOut(m, msg)
	case proposed, putBack:
		cmd = aboutFiles(m, msg)
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
		m.say("that paste of " + ui.Size(msg.Bytes) + " is too long: nothing of it was taken; write it to a file and name that")
	case tea.FocusMsg, tea.BlurMsg:
		if _, m.away = msg.(tea.BlurMsg); !m.away {
			cmd = m.lookForBranch() // it may have been changed elsewhere
		}
	default:
		m.answered(msg)
		cmd = m.follow() // a list that was filled has a marked row
	}
	return m, cmd
}

// answered takes what a port answered.
func (m *model) answered(msg tea.Msg) {
	switch msg := msg.(type) {
	case list.Filled, list.Peeked, list.Searched:
		m.picker.Answered(msg)
	case prompt.Listed:
		m.prompt.Listed(msg, m.now())
	case prompt.Folder:
		m.prompt.Listing(msg)
	case rewound:
		m.rewound(msg)
	case edited:
		m.edited(msg)
	case prompt.Dropped:
		m.prompt.Dropped(msg)
	case firstrun.Looked:
		m.first.Looked(msg)
	case prompt.Earlier:
		m.prompt.Earlier(msg)
	case branch:
		m.status.OnBranch(string(msg))
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
		case *permission.Asked:
			m.dialog.Add(x)
			cmds = append(cmds, m.guardTimer(), m.tell(screen.NoteAsk))
		case permission.Unasked:
			m.dialog.Remove(x.Asked)
			m.seen()
		case *question.Asked:
			m.inquiry.Add(x)
			cmds = append(cmds, m.guardTimer(), m.tell(screen.NoteAsk))
		case question.Unasked:
			m.inquiry.Remove(x.Asked)
		case *rewriting:
			cmds = append(cmds, write(m, x))
		case inMode:
			m.inMode(string(x))
		case stirred:
			cmds = append(cmds, stir(m))
		case turnDone:
			cmds = append(cmds, m.done(x.result))
		}
	}
	return tea.Batch(cmds...)
}

// apply shows an event to every pane. What a subagent's call does is shown while it runs, and what
// it changed in files; the conversation, its todos and its context hold only the report.
func (m *model) apply(e session.Event) tea.Cmd {
	m.activity.Apply(e)
	m.changes.Apply(e)
	m.refusals.Apply(e)
	if !ofSubagent(e) {
		m.transcript.Apply(e)
		m.todos.Apply(e)
		m.ledger.Apply(e)
		m.prompt.Apply(e)
		m.status.Apply(e)
	}
	switch e := e.(type) {
	case session.ToolStart, session.CallForming:
		return m.after(pane.ShowAfter, redraw{})
	case session.ToolEnd:
		m.lookAtSandbox()
		return lookAround(m, e.Outcome)
	case session.Claimed:
		m.claims = e.Claims
	case session.MessageDone:
		m.turn.heard = m.turn.heard || e.Message.Role == session.User && e.Message.Own == "" && !e.Message.Note
	case session.Planned:
		planned(m, e.Plan)
	case session.TurnEnd:
		m.turn.ended = true
	}
	return nil
}

// wants asks the panes how many rows they would like; those of the status line are drawn already.
func (m *model) wants() (Wants, []draw.Row) {
	side := sideWidth(m.w)
	status := m.status.Rows(m.w, m.moment())
	return Wants{
		Status:   len(status),
		Activity: m.activity.Want(side), Todos: m.todos.Want(),
		Dialog: m.want(m.w), Prompt: m.prompt.Want(m.w), Menu: m.prompt.Menu.Want(m.w),
		Over: m.picker.Open || m.view.Open(),
	}, status
}

var _ tea.Model = (*model)(nil)

// newModel puts the panes together and draws the history of a resumed session.
func newModel(o Options) *model {
	d := &ui.Drawing{Theme: coloursOf(o).theme(), Blocks: o.Blocks}
	keys, warnings := newKeymap(o.Keys)
	m := &model{info: o.Info, draw: d, colours: coloursOf(o), keys: keys, ports: o.Ports, mouse: true, now: time.Now}
	m.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		return tea.Tick(d, func(time.Time) tea.Msg { return msg })
	}
	d.Expand = m.keys.label(expand)
	m.show, m.askBackground = func(screen.Frame) {}, func() {}
	m.clipboard, m.notify = func(safeterm.Text) {}, func(screen.Note) {}
	m.foreground = func() (int, int) { return m.w, m.h }
	clock := func() time.Time { return m.now() }
	m.transcript = transcript.New(d, m.welcome)
	m.activity = pane.NewActivity(d, clock)
	m.todos = pane.NewTodos(d)
	m.changes = pane.NewChanges(d)
	m.refusals = pane.NewRefusals(d)
	m.ledger = pane.NewLedger(d, clock)
	m.prompt = prompt.New(d.Theme, o.Vim, func(start string) []list.Choice { return commandChoices(m, start) })
	m.prompt.Menu.Root, m.prompt.Menu.Agents = o.Info.Cwd, agentChoices(o.Info.Agents)
	m.picker = list.New(d.Theme)
	m.view = pane.NewView(d.Theme, m.keys.labelOf("pane.close"))
	m.questions = newQuestions(d.Theme, clock, m.keys, o.Info.Cwd)
	m.status = pane.NewStatus(d.Theme, pane.Facts{Mode: o.Info.Mode, Model: o.Info.Model, Effort: o.Info.Effort, Sandbox: o.Info.Sandbox})
	m.first = firstrun.New(o.First, d.Theme, m.keys.ofFirst())
	warnOfKeys(m, warnings)
	for _, e := range o.History {
		m.apply(e)
	}
	if m.inline.on = o.Inline; o.Shown {
		m.inline.written = m.transcript.Len()
	}
	showPlace(m, o.At)
	m.noticed()
	m.activity.Reset()
	return m
}
