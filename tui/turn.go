package tui

import (
	"context"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/tui/api"
	"adze/tui/list"
	"adze/tui/plain"
	"adze/tui/screen"
)

// turn is one prompt being worked on, or one command of the user's own.
type turn struct {
	running, stopping bool
	ended             bool // its TurnEnd was seen
	prompt            api.Prompt
	heard             bool // the user's message is in the conversation
	shell             bool // a command of the user's own
	woken             bool // nobody prompted it
	rewind            bool // take the prompt back once it has stopped
	since             time.Time
	cancel            context.CancelFunc
}

// job is what a turn does.
type job struct {
	prompt  api.Prompt
	command string // run this instead
	// run is another thing of the user's own that is done instead.
	run func(ctx context.Context) session.Result
	// compact has the conversation summed up instead; wish says what must not be lost.
	compact bool
	wish    string
	// wake has the agent told instead what came by itself.
	wake bool
}

// rewound is the answer to a request to take the last message back.
type rewound struct {
	text string
	err  error
	note string // what came of the files; if empty, they stay as they are
}

// Next says how the user wants to go on; it is known when Run has returned.
func (u *UI) Next() api.Next { return u.model.next }

// begin starts a turn.
func (m *model) begin(j job) tea.Cmd {
	m.claims = nil
	ctx, cancel := context.WithCancel(context.Background())
	m.turn = turn{running: true, since: m.now(), cancel: cancel, shell: j.command != "" || j.compact || j.run != nil, woken: j.wake, prompt: j.prompt}
	m.stopped = false
	m.start(ctx, j)
	return m.after(time.Second, second{})
}

// done ends a turn. After a good end the next message goes out; else what waits returns to the
// prompt.
func (m *model) done(r session.Result) tea.Cmd {
	if !m.turn.ended { // it failed before it began
		m.apply(session.TurnEnd{Result: r})
	}
	m.turn.cancel()
	rewind, shell, heard, sent := m.turn.rewind, m.turn.shell, m.turn.heard || m.turn.woken, m.turn.prompt
	m.turn = turn{}
	m.prompt.Unsteer()
	switch {
	case m.leaving:
		return tea.Quit
	case !shell && !heard && r.Cause != session.CauseDone: // it is nowhere else
		m.prompt.Unsent(sent)
		m.prompt.Unqueue()
	case rewind:
		m.prompt.Unqueue()
		return m.rewind()
	case r.Cause != session.CauseDone && (!shell || r.Cause == session.CauseInterrupted): // who stops a command of their own wants nothing sent either
		m.stopped = r.Cause == session.CauseInterrupted && !shell
		m.prompt.Unqueue()
	default:
		if next, ok := m.prompt.Next(); ok {
			return m.begin(job{prompt: next})
		}
		if cmd := wake(m); cmd != nil {
			return cmd
		}
	}
	return m.tell(screen.NoteDone)
}

// tell notifies a user who looks elsewhere.
func (m *model) tell(n screen.Note) tea.Cmd {
	if !m.away {
		return nil
	}
	return func() tea.Msg { m.notify(n); return nil }
}

// send is enter: a command, a command of the shell, or a message; while the agent works, a message
// waits.
func (m *model) send() tea.Cmd {
	if m.prompt.Continues() {
		return nil
	}
	text := m.prompt.Text
	if name, arg, ok := plain.Slash(text); ok && !carries(m, name) {
		return m.command(name, arg)
	}
	if line, ok := strings.CutPrefix(strings.TrimSpace(text), "!"); ok {
		return m.shell(strings.TrimSpace(line))
	}
	if line, ok := remark(text); ok && m.ports.Notebooks != nil {
		return writeDown(m, line)
	}
	p := m.prompt.Take()
	if p.Text == "" {
		return nil
	}
	m.transcript.ToEnd()
	if m.turn.running {
		m.prompt.Enqueue(p)
		return m.remember(p.Text)
	}
	return tea.Batch(m.remember(p.Text), m.begin(job{prompt: p}))
}

// longMemory is the longest message that is kept for later sessions.
const longMemory = 4 << 10

func (m *model) remember(text string) tea.Cmd {
	if m.ports.Remember == nil || len(text) > longMemory {
		return nil
	}
	return func() tea.Msg { m.ports.Remember(text); return nil }
}

// shell runs a command of the user's own.
func (m *model) shell(line string) tea.Cmd {
	switch {
	case m.ports.Run == nil:
		m.say("commands cannot be run here")
	case line == "":
		m.say("write a command after the !")
	case m.turn.running:
		m.say("the agent works: stop it first, or wait")
	default:
		full := m.prompt.Take().Text
		m.transcript.ToEnd()
		return tea.Batch(m.remember(full), m.begin(job{command: line}))
	}
	return nil
}

// remark is a prompt that is to be written down: one line behind a #. A heading of a longer text,
// one of another level and the number of an issue (#12) are messages.
func remark(text string) (line string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "#")
	line = strings.TrimSpace(rest)
	if !ok || line == "" || strings.Contains(line, "\n") {
		return "", false
	}
	first := []rune(rest)[0]
	return line, first != '#' && first != '!' && !unicode.IsDigit(first)
}

// writeDown asks where a line goes. It may have been meant for the model after all, which is a
// choice too.
func writeDown(m *model, line string) tea.Cmd {
	if m.turn.running {
		m.say("the agent works: stop it first, or wait; a message that begins with # needs a second line")
		return nil
	}
	var items []list.Choice
	books := m.ports.Notebooks()
	for _, b := range books {
		items = append(items, list.Choice{ID: b.Name, Label: b.Name, Note: b.Note})
	}
	items = append(items, list.Choice{ID: "", Label: "send it", Note: "as a message to the model, and write nothing"})
	m.picker.Begin("add this line to", items, func(c list.Choice) tea.Cmd {
		full := m.prompt.Take()
		m.transcript.ToEnd()
		for _, b := range books {
			if b.Name != c.ID {
				continue
			}
			write := m.ports.WriteDown
			return tea.Batch(m.remember(full.Text), m.begin(job{run: func(ctx context.Context) session.Result { return write(ctx, b, line) }}))
		}
		return tea.Batch(m.remember(full.Text), m.begin(job{prompt: full}))
	})
	return nil
}

func canSteer(m *model) string {
	switch {
	case m.ports.Steer == nil:
		return "messages wait until the agent has ended its work"
	case !m.turn.running || m.turn.shell:
		return "the agent does not work: " + m.keys.label(send) + " sends"
	}
	return canSend(m)
}

// steer hands the message to the agent before its next step.
func (m *model) steer() tea.Cmd {
	p := m.prompt.Take()
	m.transcript.ToEnd()
	if len(p.Attach) > 0 || names(m, p.Text) || !m.ports.Steer(p.Text) { // what a name stands for begins a turn
		m.prompt.Enqueue(p)
		return m.remember(p.Text)
	}
	m.prompt.Steered(p)
	return m.remember(p.Text)
}

func canRewind(m *model) string {
	switch {
	case m.ports.Rewind == nil:
		return "messages cannot be taken back here"
	case m.turn.running:
		return "the agent works: stop it first"
	case !m.transcript.Said():
		return "there is no message to take back"
	}
	return ""
}

// rewind takes the last message back; where files were changed since, the user says whether these
// are, too.
func (m *model) rewind() tea.Cmd {
	if why := canRewind(m); why != "" {
		m.say(why)
		return nil
	}
	m.stopped = false
	if m.ports.Undo != nil {
		return propose(m, api.Undo{Since: true})
	}
	return m.takeBack("")
}

// takeBack takes the last message back, and says then what came of the files; the answer comes as
// rewound.
func (m *model) takeBack(note string) tea.Cmd {
	m.rewinding, m.stopped = true, false
	return func() tea.Msg {
		text, err := m.ports.Rewind(context.Background())
		return rewound{text, err, note}
	}
}

func (m *model) rewound(r rewound) {
	m.rewinding = false
	if r.err != nil {
		m.say("error: " + r.err.Error())
		return
	}
	m.transcript.Rewind()
	if !m.transcript.Said() {
		m.status.Unnamed()
	}
	m.prompt.Restore(r.text)
	if r.note != "" {
		m.apply(session.Notice{Text: r.note})
		m.say("your message is back to be edited")
		return
	}
	m.say("your message is back to be edited; files stay as they are now")
}

func canCompact(m *model) string {
	switch {
	case m.ports.Compact == nil:
		return "this conversation cannot be summed up"
	case m.turn.running:
		return "the agent works: stop it first, or wait"
	case !m.transcript.Said():
		return "nothing was said yet"
	}
	return ""
}

// compact has the conversation summed up now.
func (m *model) compact(wish string) tea.Cmd { return m.begin(job{compact: true, wish: wish}) }

func canClaims(m *model) string {
	switch {
	case m.turn.running:
		return "the agent works"
	case len(m.claims) == 0:
		return "the last answer says nothing that the calls do not show"
	}
	return ""
}

// tellClaims sends what was found in the last answer as the user's message.
func (m *model) tellClaims() tea.Cmd {
	return m.begin(job{prompt: api.Prompt{Text: session.ClaimsText(m.claims)}})
}
