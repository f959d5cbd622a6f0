package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/session"
	"adze/session/api"
	"adze/tui/async"
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
	"adze/tui/tty"
	"adze/tui/ui"
)

// model is the interface's state. Panes are plain structs that take events and draw themselves. A
// feature handles a key, a command or a message; keys.go has the keys and arrange.go the layout.
// The model routes, lays out and draws.
type model struct {
	info       *Info
	draw       *ui.Drawing
	w, h       int
	keys       *keymap
	statusLine *statusText

	transcript *transcript.Pane
	activity   *pane.Activity
	todos      *pane.Todos
	changes    *pane.Changes
	ledger     *pane.Ledger
	prompt     *prompt.Line
	view       *pane.View
	picker     *list.List
	status     *pane.Status

	workPane     *workPane
	branches     *branches
	colours      *colours
	commander    *commander
	composer     *composer
	conversation *conversation
	copier       *copier
	first        *first
	help         *help
	jobs         *jobs
	lists        *lists
	questions    *questions
	sender       *sender
	servers      *servers
	sessions     *sessions
	settings     *settings
	sheets       *sheets
	net          *net
	ender        *shutdown
	stopper      *stopper
	turns        *turns
	twice        *doublePress
	undo         *undo
	window       *window
	starting     *starting // nil once the conversation is built
	sources      []commandSource
	waiting      waiting

	// Dependencies; tests replace them with fakes.
	now        func() time.Time
	after      func(time.Duration, tea.Msg) tea.Cmd
	ports      *api.Ports
	clipboard  func(safeterm.Text)
	ask        func(background bool) // queries the terminal
	foreground func() (w, h int)     // returns the size after the terminal was lent
	// borrow takes the terminal for use and returns a function that runs it. It is nil without a
	// terminal.
	borrow func(use func() error) func() error
}

// Internal messages.
type (
	batch    []any    // from the bridge
	turnDone struct { // a turn's last message
		result session.Result
	}
)

// statusText is the message shown until the next key.
type statusText struct{ text string }

// take returns the text and clears it.
func (s *statusText) take() string {
	text := s.text
	s.text = ""
	return text
}

func (m *model) Init() tea.Cmd {
	if m.starting != nil {
		return nil
	}
	cmds := []tea.Cmd{m.colours.ask(), m.branches.look()}
	if m.first.shown() {
		return tea.Batch(append(cmds, m.first.screen.Search())...)
	}
	if past := m.ports.PromptHistory; past != nil {
		m.prompt.Await()
		cmds = append(cmds, async.Ask(past, func(texts []string) tea.Cmd { m.prompt.Earlier(texts); return nil }))
	}
	if m.info.Choose && m.sessions.can() == "" {
		cmds = append(cmds, m.sessions.choose())
	}
	if m.info.Review {
		cmds = append(cmds, m.net.open())
	}
	if m.info.Prompt != "" {
		cmds = append(cmds, m.turns.begin(job{prompt: api.Prompt{Text: m.info.Prompt}}))
	}
	return tea.Batch(cmds...)
}

// Update handles one message.
func (m *model) Update(msg tea.Msg) (tty.Interface, tea.Cmd) {
	if m.starting != nil {
		return m.starting.update(msg)
	}
	defer m.waiting.look()
	cmd := m.receive(msg)
	return m, tea.Batch(cmd, m.questions.look())
}

// receive routes keys through the key table and events through every pane. Background results
// arrive as async.Continuation.
func (m *model) receive(msg tea.Msg) (cmd tea.Cmd) {
	switch msg := msg.(type) {
	case batch:
		cmd = m.take(msg)
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		cmd = m.paste(msg.Content)
	case tea.MouseWheelMsg:
		m.wheel(msg.Button)
		cmd = m.lists.follow()
	case tea.WindowSizeMsg:
		if msg.Width > 0 { // Bubble Tea's first message has no size
			m.resize(msg.Width, msg.Height)
		}
	case tea.ResumeMsg:
		m.w, m.h = m.foreground()
	case tea.FocusMsg, tea.BlurMsg:
		if _, m.window.away = msg.(tea.BlurMsg); !m.window.away {
			cmd = m.branches.look() // another program may have changed it
		}
	case async.Continuation:
		cmd = tea.Batch(msg(), m.lists.follow()) // a filled list has a marked row
	case tea.BackgroundColorMsg:
		m.colours.grounded(msg.IsDark())
	case tea.ModeReportMsg:
		m.colours.counted(msg)
	case input.TooLong:
		m.composer.tooLong(msg.Bytes)
	}
	return cmd
}

// take applies a batch in order.
func (m *model) take(b batch) tea.Cmd {
	var cmds []tea.Cmd
	for _, x := range b {
		if asked, ok := x.(*permission.Asked); ok {
			m.transcript.Asks(asked.Question.Call)
		}
		switch x := x.(type) {
		case session.Event:
			cmds = append(cmds, m.apply(x))
		case *permission.Asked, *question.Asked:
			m.questions.add(x)
			cmds = append(cmds, m.window.tell(screen.NoteAsk))
		case permission.Unasked, question.Unasked:
			m.questions.take(x)
		case *rewriting:
			cmds = append(cmds, m.composer.rewrite(x))
		case inMode:
			m.settings.inMode(string(x))
		case prompted:
			cmds = append(cmds, m.turns.elsewhere(api.Prompt(x)))
		case atEffort:
			m.info.Effort = string(x)
			m.status.AtEffort(m.info.Effort)
		case elsewhere:
			cmds = append(cmds, x(m))
		case stirred:
			cmds = append(cmds, m.turns.stir(), m.jobs.look())
		case turnDone:
			cmds = append(cmds, m.turns.done(x.result), m.net.done(x.result))
		}
	}
	return tea.Batch(cmds...)
}

// apply passes an event to every pane. A subagent's calls appear while they run, and so do its file
// changes; the conversation, the todos and the context pane get only its report.
func (m *model) apply(e session.Event) tea.Cmd {
	m.activity.Apply(e)
	m.changes.Apply(e)
	if ofSubagent(e) {
		m.transcript.Follow(e)
	} else {
		m.transcript.Apply(e)
		m.todos.Apply(e)
		m.ledger.Apply(e)
		m.prompt.Apply(e)
		m.status.Apply(e)
	}
	m.turns.apply(e)
	m.net.apply(e)
	switch e := e.(type) {
	case session.ToolEnd:
		m.settings.lookAtSandbox()
		switch { // a command may change both; any call may end a job
		case mayMoveHead(e.Outcome):
			return tea.Batch(m.branches.look(), m.jobs.look())
		case m.activity.Jobs() > 0:
			return m.jobs.look()
		}
	case session.Planned:
		m.settings.planned(e.Plan)
	}
	return nil
}

// wants returns each pane's preferred height and the rows of the status line.
func (m *model) wants() (Wants, []draw.Row) {
	status := m.status.Rows(m.w, m.moment())
	want := Wants{
		Status:   len(status),
		WorkPane: m.workPane.want(m.h), SideColumn: m.workPane.wide(),
		Dialog:   m.questions.want(m.w),
		FullPane: m.picker.Open || m.view.Open(),
	}
	if want.Dialog == 0 || m.questions.keysToMessage {
		want.Prompt, want.Menu = m.prompt.Want(m.w), m.prompt.Menu.Want(m.w)
	}
	return want, status
}

var _ tty.Interface = (*model)(nil)

// bare returns an invisible interface, for its tables.
func bare() *model {
	return newModel(Options{Env: func(string) string { return "" }})
}

// newModel creates the panes and features and draws a resumed session's history.
func newModel(o Options) *model {
	c := newColours(o)
	d := &ui.Drawing{Theme: c.theme, Blocks: o.Blocks}
	m := &model{info: &o.Info, draw: d, statusLine: &statusText{}, colours: c, ports: &o.Ports, now: time.Now}
	m.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		return tea.Tick(d, func(time.Time) tea.Msg { return msg })
	}
	m.ask, m.clipboard = func(bool) {}, func(safeterm.Text) {}
	m.foreground = func() (int, int) { return m.w, m.h }
	hello := &greeting{m, m.info, m.ports}
	m.transcript = transcript.New(d, hello.welcome)
	m.activity = pane.NewActivity(d, m.clock)
	m.todos = pane.NewTodos(d)
	m.changes = pane.NewChanges(d)
	d.Now = m.clock
	m.workPane = &workPane{host: m, todos: m.todos, activity: m.activity, changes: m.changes, width: func() int { return m.w }}
	m.ledger = pane.NewLedger(d, m.clock)
	m.commander = &commander{host: m, info: m.info}
	m.prompt = prompt.New(d.Theme, o.Vim, m.commander.choices)
	m.prompt.Notice = m.workPane.above
	m.waiting = waiting{prompt: m.prompt, tell: o.Waits}
	m.prompt.Menu.Root, m.prompt.Menu.Agents = o.Info.Cwd, agentChoices(o.Info.Agents)
	m.picker = list.New(d.Theme)
	m.status = pane.NewStatus(d.Theme, pane.Facts{Mode: o.Info.Mode, Model: o.Info.Model, Effort: o.Info.Effort, Sandbox: o.Info.Sandbox})
	m.conversation = &conversation{host: m, transcript: m.transcript, draw: d, welcome: hello.welcome}
	if o.Starting {
		m.starting = &starting{model: m}
	}
	warnings := m.assemble(o)
	d.Expand = m.keys.label(expand)
	if m.ports.CancelCall != nil {
		d.Abort = m.keys.label(cancelOneCall)
	}
	warnOfKeys(m, warnings)
	for _, e := range o.History {
		m.apply(e)
	}
	if m.transcript.Len() == 0 && !o.Info.Watches {
		m.transcript.KeepWelcome()
	}
	if m.conversation.inline = o.Inline; o.AlreadyShown {
		m.conversation.written = m.transcript.Len()
	}
	m.sessions.show(o.InitialPlace)
	m.noticed()
	m.activity.Reset()
	return m
}

// assemble connects the features and builds the key table.
func (m *model) assemble(o Options) (warnings []string) {
	m.branches = &branches{m.ports, m.status, m.info}
	keep := &keeper{m, m.ports, m.picker, m.info}
	m.lists = &lists{m, m.picker}
	m.servers = &servers{m, m.ports, m.picker}
	m.settings = &settings{m, m.ports, m.picker, m.status, m.info, keep.ask}
	m.sessions = &sessions{m, m.ports, m.picker, m.transcript, m.info, func() bool { return m.conversation.inline }}
	m.twice = &doublePress{host: m}
	clip := func(text safeterm.Text) { m.clipboard(text) }
	m.copier = &copier{m, m.transcript, m.picker, m.twice, clip}
	m.colours.host, m.colours.picker, m.colours.keep = m, m.picker, keep.offer
	m.colours.query = func(background bool) { m.ask(background) }
	m.colours.forget = func() {
		m.transcript.ForgetAll()
		m.net.pane.Forget()
	}
	m.window = &window{host: m, mouse: o.Mouse, notify: func(screen.Note) {}}
	m.window.whole = func() bool { return !m.conversation.inline || m.needsScreen() }
	m.undo = &undo{host: m, ports: m.ports, picker: m.picker, transcript: m.transcript, prompt: m.prompt, status: m.status, show: m.apply}
	m.undo.restored = func(said string) tea.Cmd { return m.net.again(said) }
	held := func() bool { return m.undo.rewinding }
	m.ender = &shutdown{}
	m.turns = &turns{host: m, shutdown: m.ender, ports: m.ports, transcript: m.transcript, prompt: m.prompt, show: m.apply, tell: m.window.tell, rewind: m.undo.rewind, held: held, copy: m.copier.text}
	m.undo.clearStopped = m.turns.forget
	m.sender = &sender{m, m.ports, m.prompt, m.transcript, m.turns, m.commander, held, m.starting != nil}
	m.commander.prompt, m.commander.send = m.prompt, m.sender.send
	m.composer = &composer{host: m, ports: m.ports, info: m.info, prompt: m.prompt, picker: m.picker, keep: keep.offer, send: m.sender.send}
	m.composer.width = func() int { return m.prompt.Inner(m.w) }
	joins := &merge{host: m, ports: m.ports, picker: m.picker, begin: m.turns.begin, show: m.apply, shut: func() { m.view.Shut() }}
	m.net = &net{host: m, ports: m.ports, branches: m.branches, pane: pane.NewNet(m.draw), prompt: m.prompt, begin: m.turns.begin, copy: m.copier.text, baseline: api.SinceSession, merge: joins, undo: m.undo}
	m.help = &help{host: m, theme: m.draw.Theme, rows: func() []binding { return m.keys.table }, under: m.under, written: m.commander.groups}
	m.questions, m.first, m.sheets, m.jobs, m.stopper = &questions{}, &first{}, &sheets{}, &jobs{}, &stopper{}
	m.help.first = m.first.shown
	m.keys, warnings = newKeymap(m.bindings(), o.Keys)
	m.view = pane.NewView(m.draw.Theme, m.keys.labelOf("pane.close"))
	*m.questions = *newQuestions(m, m.settings, m.draw.Theme, m.keys.ofDialog(), o.Info.Cwd)
	m.questions.hasMessage = m.composer.hasMessage
	*m.stopper = stopper{host: m, shutdown: m.ender, info: m.info, prompt: m.prompt, picker: m.picker, turns: m.turns, questions: m.questions, undo: m.undo, twice: m.twice}
	*m.first = first{m, firstrun.New(o.First, m.draw.Theme, m.keys.ofFirst()), m.picker, m.prompt, func() tea.Cmd { return m.settings.chooseModel() }, clip, m.stopper.quit}
	*m.sheets = sheets{m, m.view, m.ledger, m.net}
	m.net.view = m.view
	*m.jobs = jobs{host: m, ports: m.ports, picker: m.picker, activity: m.activity, view: m.view, theme: m.draw.Theme}
	plan, trust := &plans{m, m.ports, m.settings, m.turns.begin}, &trust{m, m.ports, m.picker, m.info}
	staged := &staged{host: m, ports: m.ports, begin: m.turns.begin, inMode: func() { m.settings.toldMode() }}
	m.turns.review = staged.review
	m.sources = []commandSource{m.workPane, m.colours, m.composer, m.copier, m.help, m.jobs, joins, m.net, plan, m.servers, m.sessions, m.settings, m.sheets, staged, m.stopper, trust, m.turns, m.undo, m.window}
	m.commander.table = m.commands()
	return warnings
}
