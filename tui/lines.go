package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/tui/api"
	"adze/tui/draw"
	"adze/tui/list"
	"adze/tui/permission"
	"adze/tui/plain"
)

// RunPlain is Run for who reads by lines: it takes lines and prints lines.
func (u *UI) RunPlain(ctx context.Context) error {
	m := u.model
	m.draw.Theme.Become(draw.Bare())
	m.draw.Expand = "the interface without --plain"
	m.w, m.h = plain.Width, 24
	m.start = func(ctx context.Context, j job) {
		u.breaks.Turn(true)
		u.start(ctx, j)
	}
	m.after = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	m.dialog.Naming(permission.Labels{})
	defer u.close()
	lines := u.options.Lines
	if lines == nil {
		lines = plain.ReadLines(u.options.In)
	}
	p := &plain.Interface{
		Panes: plain.Panes{Transcript: m.transcript, Dialog: m.dialog, Inquiry: m.inquiry, List: m.picker, Todos: m.todos, View: m.view},
		Root:  lineRoot{m, u.breaks}, Events: plain.Events{Wake: u.bridge.wake, Take: func() []any { return u.bridge.take() }},
		Out: u.options.Out, Breaks: u.breaks, Gone: u.gone, Mute: u.options.In == nil,
	}
	if u.options.Shown {
		p.Shown = m.inline.written
	}
	var first func() tea.Cmd
	if text := m.info.Prompt; text != "" {
		first = func() tea.Cmd { return m.begin(job{prompt: api.Prompt{Text: text}}) }
	}
	return p.Run(ctx, greetingLines(m.info), first, lines)
}

func greetingLines(i Info) []string {
	out := []string{"adze " + i.Version + ". Folder " + i.Cwd + ". Model " + i.Model + ". Mode " + i.Mode + "."}
	out = append(out, i.Notices...)
	return append(out, "Write a message and press enter. !command runs a command, /help lists commands, /quit leaves.")
}

// Interrupt stops the agent of an interface of lines and reports whether it did: once in each turn.
// What is not taken ends the program, as everywhere. It may be called from any goroutine.
func (u *UI) Interrupt() bool { return u.breaks.Interrupt() }

// lineRoot is the model as lines ask it.
type lineRoot struct {
	m      *model
	breaks *plain.Breaks
}

var _ plain.Root = lineRoot{}

func (r lineRoot) Working() bool { return r.m.turn.running }

// Send sends what was attached before along.
func (r lineRoot) Send(text string) (cmd tea.Cmd, waits bool, why string) {
	m := r.m
	m.prompt.Set(strings.TrimSpace(m.prompt.Text + " " + text))
	if why := canSend(m); why != "" {
		return nil, false, why
	}
	before := m.prompt.Queued()
	cmd = m.send()
	return cmd, m.prompt.Queued() > before, ""
}

func (r lineRoot) Steer(text string) (cmd tea.Cmd, why string) {
	r.m.prompt.Set(text)
	if why := canSteer(r.m); why != "" {
		r.m.prompt.Set("")
		return nil, why
	}
	return r.m.steer(), ""
}

// Command keeps what is attached to the next message.
func (r lineRoot) Command(name, arg string) tea.Cmd {
	kept := r.m.prompt.Text
	if carries(r.m, name) {
		r.m.prompt.Set(strings.TrimSpace(strings.TrimSpace("/"+name+" "+arg) + " " + kept))
		if why := canSend(r.m); why != "" {
			r.m.prompt.Set(kept)
			r.m.say(why)
			return nil
		}
		return r.m.send()
	}
	cmd := r.m.command(name, arg)
	r.m.prompt.Set(strings.TrimSpace(kept + " " + r.m.prompt.Text))
	return cmd
}

func (r lineRoot) Commands() []list.Choice { return commandChoices(r.m, "") }

func (r lineRoot) Named(name string) (full string, ok bool) {
	if carries(r.m, name) {
		return name, true
	}
	if full, _, ok = meant(r.m, name); !ok {
		full, ok = begun(r.m, name)
	}
	return full, ok
}

func (r lineRoot) Apply(x any) (cmd tea.Cmd, ended bool) {
	if done, ok := x.(turnDone); ok {
		r.breaks.Turn(false)
		return r.m.done(done.result), true
	}
	return r.m.take(batch{x}), false
}

func (r lineRoot) Update(msg tea.Msg) (cmd tea.Cmd, returned bool) {
	_, cmd = r.m.Update(msg)
	_, returned = msg.(rewound)
	return cmd, returned
}

func (r lineRoot) Stop() { r.m.stop() }

func (r lineRoot) Leave() {
	if r.m.turn.running {
		r.m.leaving = true
		r.m.turn.cancel()
	}
}

func (r lineRoot) Said() string {
	text := r.m.said
	r.m.said = ""
	return text
}

func (r lineRoot) Unsent() string {
	text := r.m.prompt.Text
	r.m.prompt.Set("")
	return text
}
