package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tui/draw"
	"adze/tui/list"
	"adze/tui/permission"
	"adze/tui/plain"
	"adze/tui/prompt"
	"adze/tui/tty"
)

// RunPlain is Run for a line-based terminal: it reads lines and prints lines.
func (u *UI) RunPlain(ctx context.Context) error {
	m := u.model
	m.draw.Theme.CopyFrom(draw.Bare())
	m.draw.Expand = "adze without --plain"
	m.w, m.h = plain.Width, 24
	m.turns.start = func(ctx context.Context, j job) {
		u.breaks.Turn(true)
		u.start(ctx, j)
	}
	m.after = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	m.questions.dialog.Naming(permission.Labels{})
	defer u.close()
	lines := u.options.Lines
	if lines == nil {
		lines = plain.ReadLines(u.options.In)
	}
	p := &plain.Interface{
		Panes: plain.Panes{Transcript: m.transcript, Dialog: m.questions.dialog, Inquiry: m.questions.inquiry, List: m.picker, Todos: m.todos, View: m.view},
		Root:  lineRoot{m, m, m.prompt, m.statusLine, m.sender, m.commander, m.stopper, m.turns, u.breaks}, Events: plain.Events{Wake: u.bridge.wake, Take: func() []any { return u.bridge.take() }},
		Out: u.options.Out, Breaks: u.breaks, Closed: u.ended, Mute: u.options.In == nil,
	}
	if u.options.AlreadyShown {
		p.Printed = m.conversation.written
	}
	var first func() tea.Cmd
	if text := m.info.Prompt; text != "" {
		first = func() tea.Cmd { return m.turns.begin(job{prompt: api.Prompt{Text: text}}) }
	}
	return p.Run(ctx, greetingLines(*m.info), first, lines)
}

func greetingLines(i Info) []string {
	out := []string{"adze " + i.Version + ". Folder " + i.Cwd + ". Model " + i.Model + ". Mode " + i.Mode + "."}
	out = append(out, i.Notices...)
	return append(out, "Write a message and press enter. !command runs a command, /help lists commands, /quit leaves.")
}

// Interrupt stops the agent of a line-based interface and reports whether it did: once per turn.
// Otherwise the interrupt ends the program, as usual. It may be called from any goroutine.
func (u *UI) Interrupt() bool { return u.breaks.Interrupt() }

// lineRoot connects package plain with the model.
type lineRoot struct {
	host
	model     tty.Interface
	prompt    *prompt.Line
	said      *statusText
	sender    *sender
	commander *commander
	stopper   *stopper
	turns     *turns
	breaks    *plain.Breaks
}

var _ plain.Root = lineRoot{}

func (r lineRoot) Working() bool { return r.working() }

// Send sends text together with earlier attachments.
func (r lineRoot) Send(text string) (cmd tea.Cmd, waits bool, why string) {
	r.prompt.Set(strings.TrimSpace(r.prompt.Text + " " + text))
	if why := r.sender.can(); why != "" {
		return nil, false, why
	}
	before := r.prompt.Queued()
	cmd = r.sender.send()
	return cmd, r.prompt.Queued() > before, ""
}

func (r lineRoot) Steer(text string) (cmd tea.Cmd, why string) {
	r.prompt.Set(text)
	if why := r.sender.canSteer(); why != "" {
		r.prompt.Set("")
		return nil, why
	}
	return r.sender.steer(), ""
}

// Command runs a command and keeps the attachments for the next message.
func (r lineRoot) Command(name, arg string) tea.Cmd {
	kept := r.prompt.Text
	if r.commander.carries(name) {
		r.prompt.Set(strings.TrimSpace(strings.TrimSpace("/"+name+" "+arg) + " " + kept))
		if why := r.sender.can(); why != "" {
			r.prompt.Set(kept)
			r.showMessage(why)
			return nil
		}
		return r.sender.send()
	}
	cmd := r.commander.command(name, arg)
	r.prompt.Set(strings.TrimSpace(kept + " " + r.prompt.Text))
	return cmd
}

func (r lineRoot) Commands() []list.Choice { return r.commander.choices("") }

func (r lineRoot) Named(name string) (full string, ok bool) {
	if r.commander.carries(name) {
		return name, true
	}
	if full, _, ok = r.commander.resolve(name); !ok {
		full, ok = r.commander.begun(name)
	}
	return full, ok
}

func (r lineRoot) Apply(x any) (cmd tea.Cmd, ended bool) {
	if _, ended = x.(turnDone); ended {
		r.breaks.Turn(false)
	}
	_, cmd = r.model.Update(batch{x})
	return cmd, ended
}

func (r lineRoot) Update(msg tea.Msg) (cmd tea.Cmd, returned bool) {
	_, cmd = r.model.Update(msg)
	return cmd, r.prompt.Restored()
}

func (r lineRoot) Stop() { r.stopper.stop() }

func (r lineRoot) Leave() { r.turns.leave() }

func (r lineRoot) TakeMessage() string { return r.said.take() }

func (r lineRoot) Unsent() string {
	text := r.prompt.Text
	r.prompt.Set("")
	return text
}
