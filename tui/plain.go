package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"adze/internal/safeterm"
	"adze/session"
	"adze/tui/draw"
)

// plain is the interface as lines, for screen readers and for terminals that can do nothing else: what is
// finished is printed once, in order, without colours, and nothing on the screen ever changes. It shares the
// transcript and the dialog with the interface proper.
type plain struct {
	ui     *UI
	out    io.Writer
	draw   *drawing
	view   *transcript
	dialog *permission
	shown  int // entries that were printed or left out
	live   bool
	cancel context.CancelFunc // of the running turn; nil: none runs
	queue  []string
	asked  time.Time // when the question was printed, or a line came too soon for it
	leave  bool
}

// plainWidth is the width of a line: what every terminal has, and a screen reader reads on by itself.
const plainWidth = 78

// RunPlain is Run for who reads by lines: it takes lines and prints lines.
func (u *UI) RunPlain(ctx context.Context) error {
	d := &drawing{theme: draw.Bare(), blocks: u.options.Blocks, expand: "the interface without --plain"}
	p := &plain{ui: u, out: u.options.Out, draw: d, view: newTranscript(d, nil)}
	p.dialog = &permission{theme: d.theme, now: time.Now, label: func(action) string { return "" }}
	defer func() {
		if p.cancel != nil {
			p.cancel()
		}
		u.close()
	}()
	p.greet()
	return p.loop(ctx, readLines(u.options.In))
}

// readLines reads in a goroutine of its own: a read cannot be interrupted. It ends with the input.
func readLines(in io.Reader) <-chan string {
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
	for !p.leave || p.cancel != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more := <-lines:
			if !more {
				lines = nil // what runs goes on to its end; a question that nobody can answer is a no
				p.leave = true
				p.refuseAll()
				continue
			}
			p.line(strings.TrimSpace(line))
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
	p.say("Write a message and press enter. !command runs a command, /quit leaves.")
	for _, e := range p.ui.options.History {
		p.view.Apply(e)
	}
	p.print()
	p.live = true
	if i.Prompt != "" {
		p.begin(i.Prompt)
	}
}

func (p *plain) say(text string) {
	for _, line := range safeterm.Clean(text).Lines() {
		fmt.Fprintln(p.out, line.String())
	}
}

// line obeys one line of the person.
func (p *plain) line(text string) {
	switch {
	case p.dialog.open():
		p.answer(text)
	case text == "":
	case text == "/quit":
		p.leave = true
		if p.cancel != nil {
			p.cancel()
		}
	case strings.HasPrefix(text, "/") && !strings.Contains(text[1:], "/"):
		p.say("Of the commands only /quit is known here.")
	case p.cancel != nil:
		p.queue = append(p.queue, text)
		p.say("This waits until the agent has ended its work.")
	default:
		p.begin(text)
	}
}

func (p *plain) begin(text string) {
	j := job{prompt: Prompt{Text: text}}
	if command, ok := strings.CutPrefix(text, "!"); ok && p.ui.options.Ports.Run != nil {
		j = job{command: strings.TrimSpace(command)}
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.ui.start(ctx, j)
}

func (p *plain) take(x any) {
	switch x := x.(type) {
	case session.ToolStart:
		if x.Parent != "" {
			p.say("Running " + x.Tool + " for " + x.Agent + ".")
			return
		}
		p.view.Apply(x)
		p.say("Running " + x.Tool + ".")
	case session.Event:
		if !ofSubagent(x) {
			p.view.Apply(x)
		}
	case *asked:
		p.dialog.add(x)
		if len(p.dialog.queue) == 1 {
			p.ask()
		}
	case unasked:
		if first := p.dialog.open() && p.dialog.queue[0] == x.asked; first {
			p.say("The question is withdrawn.")
		}
		p.dialog.remove(x.asked)
	case turnDone:
		p.done(x.result)
	}
	p.print()
}

func (p *plain) done(r session.Result) {
	p.cancel()
	p.cancel = nil
	p.print()
	switch {
	case p.leave:
	case r.Cause == session.CauseDone && len(p.queue) > 0:
		next := p.queue[0]
		p.queue = p.queue[1:]
		p.begin(next)
	default:
		p.say("Ready.")
	}
}

// print prints what is finished, in order.
func (p *plain) print() {
	for ; p.shown < len(p.view.entries); p.shown++ {
		switch e := p.view.entries[p.shown].(type) {
		case *userEntry:
			if p.live { // the person wrote it just now
				continue
			}
		case *callEntry:
			if e.outcome == nil {
				return
			}
		case *proseEntry:
			if !e.done {
				return
			}
			if e.reasoning {
				continue
			}
		}
		for _, r := range p.view.entries[p.shown].rows(p.draw, plainWidth) {
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
	q := p.dialog.queue[0]
	p.say("Permission for " + q.Question.Tool.Name + ":")
	body := p.dialog.body(plainWidth)
	for _, r := range body.Append(nil, 0, body.Len()) {
		fmt.Fprintln(p.out, r.String())
	}
	choices := "y allows it once"
	if p.dialog.grants() {
		choices += ", s for this session"
	}
	if p.dialog.saves() {
		choices += ", a always"
	}
	p.say(choices + ", n denies it; anything else denies it and tells the model why:")
	p.asked = time.Now()
}

// answer takes a line as the answer; one that was on its way when the question came is none.
func (p *plain) answer(text string) {
	a := Answer{Choice: Deny}
	switch {
	case time.Since(p.asked) < guard:
		p.asked = time.Now() // of several pasted lines none is an answer
		p.say("This came too soon to be an answer. Answer now:")
		return
	case text == "":
		return
	case text == "y":
		a.Choice = Once
	case text == "s" && p.dialog.grants():
		a.Choice = ForSession
	case text == "a" && p.dialog.saves():
		a.Choice = Always
	case text != "n":
		a.Reason = text
	}
	p.dialog.answer(a)
	if p.dialog.open() {
		p.ask()
	}
}

func (p *plain) refuseAll() {
	for p.dialog.open() {
		p.dialog.answer(Answer{Choice: Deny, Reason: "nobody is there to answer"})
	}
}
