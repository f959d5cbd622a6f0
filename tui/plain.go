package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/session"
	"adze/tui/draw"
	"adze/tui/permission"
	"adze/tui/port"
)

// plain is the interface as lines, for screen readers and for terminals that can do nothing else: what is
// finished is printed once, in order, without colours, and nothing on the screen ever changes. It is the model of
// the interface, asked by lines instead of keys; what its commands do is told by plain_command.go.
type plain struct {
	ui      *UI
	out     io.Writer
	m       *model
	shown   int // entries that were printed or left out
	live    bool
	asked   time.Time    // when the question was printed, or a line came too soon for it
	answers chan tea.Msg // of what commands of the interface started
	offered int          // the picker that was listed last
	leave   bool
}

// plainWidth is the width of a line: what every terminal has, and a screen reader reads on by itself.
const plainWidth = 78

// RunPlain is Run for who reads by lines: it takes lines and prints lines.
func (u *UI) RunPlain(ctx context.Context) error {
	m := u.model
	m.draw.Theme.Become(draw.Bare())
	m.draw.Expand = "the interface without --plain"
	m.w, m.h = plainWidth, 24
	m.start = func(ctx context.Context, j job) {
		u.breaks.turn(true)
		u.start(ctx, j)
	}
	m.after = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	m.dialog.Naming(permission.Labels{})
	defer u.close()
	lines := u.options.Lines
	if lines == nil {
		lines = ReadLines(u.options.In)
	}
	p := &plain{ui: u, out: u.options.Out, m: m, answers: make(chan tea.Msg)}
	p.greet()
	return p.loop(ctx, lines)
}

// ReadLines reads in a goroutine of its own: a read cannot be interrupted. It ends with the input.
func ReadLines(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		s := bufio.NewScanner(in)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			lines <- s.Text()
		}
	}()
	return lines
}

func (p *plain) loop(ctx context.Context, lines <-chan string) error {
	for !p.leave || p.m.turn.running {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ui.breaks.asked:
			p.stop()
		case line, more := <-lines:
			if !more {
				lines = nil // what runs goes on to its end; a question that nobody can answer is a no
				p.leave = true
				p.refuseAll()
				continue
			}
			p.line(strings.TrimSpace(line))
		case msg := <-p.answers:
			p.answered(msg)
		case <-p.ui.bridge.wake:
			for _, x := range p.ui.bridge.take() {
				p.take(x)
			}
		}
	}
	return nil
}

func (p *plain) greet() {
	i := p.ui.options.Info
	p.say("adze " + i.Version + ". Folder " + i.Cwd + ". Model " + i.Model + ". Mode " + i.Mode + ".")
	for _, n := range i.Notices {
		p.say(n)
	}
	p.say("Write a message and press enter. !command runs a command, /help lists commands, /quit leaves.")
	if p.ui.options.Shown {
		p.shown = p.m.transcript.Len()
	}
	p.print()
	p.live = true
	if i.Prompt != "" {
		p.run(p.m.begin(job{prompt: port.Prompt{Text: i.Prompt}}))
	}
}

func (p *plain) say(text string) {
	for _, line := range safeterm.Clean(text).Lines() {
		fmt.Fprintln(p.out, line.String())
	}
}

// line obeys one line of the person.
func (p *plain) line(text string) {
	name, arg, isCommand := slash(text)
	switch steer, ok := strings.CutPrefix(text, ">"); {
	case p.m.dialog.Open():
		p.answer(text)
	case p.m.picker.Open:
		p.pick(text)
	case text == "":
	case isCommand:
		p.command(name, arg)
	case ok && p.m.turn.running:
		p.steer(strings.TrimSpace(steer))
	default:
		p.send(text)
	}
}

// send is a message, or a command of the person's own; what was attached before goes with it.
func (p *plain) send(text string) {
	m := p.m
	m.prompt.Set(strings.TrimSpace(m.prompt.Text + " " + text))
	if why := canSend(m); why != "" {
		p.say(why + ".")
		return
	}
	waits := m.prompt.Queued()
	cmd := m.send()
	if m.prompt.Queued() > waits {
		p.say("This waits until the agent has ended its work.")
	}
	p.run(cmd)
}

// steer has the agent read a message before its next step.
func (p *plain) steer(text string) {
	m := p.m
	m.prompt.Set(text)
	if why := canSteer(m); why != "" {
		m.prompt.Set("")
		p.say(why + ".")
		return
	}
	p.run(m.steer())
	p.say("The agent reads this before its next step.")
}

func (p *plain) take(x any) {
	switch x := x.(type) {
	case session.ToolStart:
		if x.Parent != "" {
			p.say("Running " + x.Tool + " for " + x.Agent + ".")
		} else {
			p.say("Running " + x.Tool + ".")
		}
		p.m.apply(x)
	case session.Event:
		p.m.apply(x)
	case *permission.Asked:
		p.m.dialog.Add(x)
		if p.m.dialog.First() == x {
			p.ask()
		}
	case unasked:
		if p.m.dialog.First() == x.Asked {
			p.say("The question is withdrawn.")
		}
		p.m.dialog.Remove(x.Asked)
	case turnDone:
		p.done(x.result)
	}
	p.print()
}

func (p *plain) done(r session.Result) {
	p.ui.breaks.turn(false)
	cmd := p.m.done(r)
	p.print()
	if waited := p.m.prompt.Text; waited != "" {
		p.say("Not sent: " + waited)
		p.m.prompt.Set("")
	}
	if !p.leave && !p.m.turn.running {
		p.say("Ready.")
	}
	p.run(cmd)
}

// print prints what is finished, in order.
func (p *plain) print() {
	for ; p.shown < p.m.transcript.Len(); p.shown++ {
		rows, finished := p.m.transcript.Line(p.shown, plainWidth, p.live)
		if !finished {
			return
		}
		for _, r := range rows {
			fmt.Fprintln(p.out, strings.TrimRight(r.String(), " "))
		}
	}
}

// ask prints the first question.
func (p *plain) ask() {
	if p.ui.options.In == nil || p.leave {
		p.refuseAll()
		return
	}
	q := p.m.dialog.First()
	p.say("Permission for " + q.Question.Tool.Name + ":")
	body := p.m.dialog.Body(plainWidth)
	for _, r := range body.Append(nil, 0, body.Len()) {
		fmt.Fprintln(p.out, r.String())
	}
	choices := "y allows it once"
	if p.m.dialog.Grants() {
		choices += ", s for this session"
	}
	if p.m.dialog.Saves() {
		choices += ", a always"
	}
	p.say(choices + ", n denies it; anything else denies it and tells the model why:")
	p.asked = time.Now()
}

// answer takes a line as the answer; one that was on its way when the question came is none.
func (p *plain) answer(text string) {
	a := permission.Answer{Choice: permission.Deny}
	switch {
	case time.Since(p.asked) < permission.Guard:
		p.asked = time.Now() // of several pasted lines none is an answer
		p.say("This came too soon to be an answer. Answer now:")
		return
	case text == "":
		return
	case text == "y":
		a.Choice = permission.Once
	case text == "s" && p.m.dialog.Grants():
		a.Choice = permission.ForSession
	case text == "a" && p.m.dialog.Saves():
		a.Choice = permission.Always
	case text != "n":
		a.Reason = text
	}
	p.m.dialog.Answer(a)
	if p.m.dialog.Open() {
		p.ask()
	}
}

func (p *plain) refuseAll() {
	for p.m.dialog.Open() {
		p.m.dialog.Answer(permission.Answer{Choice: permission.Deny, Reason: "nobody is there to answer"})
	}
}
