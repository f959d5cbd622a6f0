// Package plain is the interface as lines, for screen readers and for terminals that can do nothing
// else: what is finished is printed once, in order, without colours, and nothing on the screen ever
// changes.
//
// The one rule: it asks the same root as the screen does (Root), by lines instead of keys, and
// shows the same panes (Panes); it decides nothing that the screen decides.
//
// Start reading at Interface.Run, then line in read.go; tell.go prints. Known limits: an answer is
// printed when it is whole; what only changes a screen (colours, an editor, copying) is not there.
package plain

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/tui/list"
	"adze/tui/pane"
	"adze/tui/permission"
	"adze/tui/question"
	"adze/tui/transcript"
)

// Width is that of a line: what every terminal has, and a screen reader reads on by itself.
const Width = 78

// Root is what lines ask of the interface. All is called from one goroutine; a command (tea.Cmd)
// runs in another and its answer comes back to Update.
type Root interface {
	// Working reports that a turn runs.
	Working() bool
	// Send sends a message, or runs a command of the user's own; why says why not, waits that it
	// is queued.
	Send(text string) (cmd tea.Cmd, waits bool, why string)
	// Steer has the agent read a message before its next step; why says why not.
	Steer(text string) (cmd tea.Cmd, why string)
	// Command obeys a command of the interface, such as /model.
	Command(name, arg string) tea.Cmd
	// Commands lists them; Named finds one by its beginning.
	Commands() []list.Choice
	Named(name string) (full string, ok bool)
	// Apply takes what happened, in order; ended reports that it was the end of a turn.
	Apply(x any) (cmd tea.Cmd, ended bool)
	// Update takes the answer of a command; returned reports that it brought a message back to the
	// user.
	Update(msg tea.Msg) (cmd tea.Cmd, returned bool)
	// Stop ends the turn, Leave the interface.
	Stop()
	Leave()
	// Said is what the interface told since it was last asked.
	Said() string
	// Unsent empties the prompt and returns what stood in it.
	Unsent() string
}

// Panes are what is shown, as lines.
type Panes struct {
	Transcript *transcript.Pane
	Dialog     *permission.Dialog
	Inquiry    *question.Dialog
	List       *list.List
	Todos      *pane.Todos
	View       *pane.View
}

// Events is where what happened is waited for and taken from.
type Events struct {
	Wake <-chan struct{}
	Take func() []any
}

// Interface is the conversation as lines.
type Interface struct {
	Panes
	Root   Root
	Events Events
	Out    io.Writer
	Breaks *Breaks
	// Gone is closed when nobody waits for answers any more.
	Gone <-chan struct{}
	// Mute says that nobody can be asked: there is no input.
	Mute bool
	// Shown counts entries of the conversation that the terminal shows already.
	Shown int

	live    bool         // the user writes: what they just wrote is not repeated
	asked   time.Time    // when the question was printed, or a line came too soon for it
	answers chan tea.Msg // of commands
	offered int          // the list that was printed last
	leave   bool
}

// Run greets, begins with first (which may be nil) and obeys lines until the user leaves, lines
// and turn have ended, or ctx ends.
func (p *Interface) Run(ctx context.Context, greeting []string, first func() tea.Cmd, lines <-chan Line) error {
	p.answers = make(chan tea.Msg)
	for _, text := range greeting {
		p.say(text)
	}
	p.print()
	p.live = true
	if first != nil {
		p.run(first())
	}
	for !p.leave || p.Root.Working() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.Breaks.asked:
			p.stop()
		case line, more := <-lines:
			if !more {
				lines = nil // what runs goes on to its end; a question that nobody can answer is a no
				p.leave = true
				p.refuseAll()
				continue
			}
			p.line(line)
		case msg := <-p.answers:
			p.answered(msg)
		case <-p.Events.Wake:
			for _, x := range p.Events.Take() {
				p.take(x)
			}
		}
	}
	return nil
}

// take shows what happened.
func (p *Interface) take(x any) {
	switch x := x.(type) {
	case session.ToolStart:
		what := x.Tool
		if x.Heading.Verb != "" {
			what = x.Heading.String()
		}
		if x.Parent != "" {
			p.say("Running " + what + " for " + x.Agent + ".")
		} else {
			p.say("Running " + what + ".")
		}
		p.Root.Apply(x)
	case *permission.Asked:
		p.Dialog.Add(x)
		if p.Dialog.First() == x {
			p.ask()
		}
	case permission.Unasked:
		if p.Dialog.First() == x.Asked {
			p.say("The question was withdrawn.")
		}
		first := p.Dialog.First() == x.Asked
		p.Dialog.Remove(x.Asked)
		if first && !p.Dialog.Open() {
			p.next() // of the model, which waited behind it
		}
	case *question.Asked:
		p.Inquiry.Add(x)
		if p.Inquiry.First() == x && !p.Dialog.Open() {
			p.inquire()
		}
	case question.Unasked:
		if p.Inquiry.First() == x.Asked {
			p.say("The question was withdrawn.")
		}
		p.Inquiry.Remove(x.Asked)
	default:
		if cmd, ended := p.Root.Apply(x); ended {
			p.done(cmd)
		}
	}
	p.print()
}

// done is after the end of a turn.
func (p *Interface) done(cmd tea.Cmd) {
	p.print()
	if waited := p.Root.Unsent(); waited != "" {
		p.say("Not sent: " + waited)
	}
	if !p.leave && !p.Root.Working() {
		p.say("Ready.")
	}
	p.run(cmd)
}

// run does what the interface would have done by Bubble Tea; answers come back through the loop.
func (p *Interface) run(cmd tea.Cmd) {
	if cmd != nil {
		go func() {
			select {
			case p.answers <- cmd():
			case <-p.Gone:
			}
		}()
	}
	p.told()
}

// answered takes what a command of the interface led to.
func (p *Interface) answered(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.QuitMsg:
		p.leave = true
	case tea.BatchMsg:
		for _, cmd := range msg {
			p.run(cmd)
		}
	default:
		cmd, returned := p.Root.Update(msg)
		p.Shown = min(p.Shown, p.Transcript.Len())
		if returned {
			if text := p.Root.Unsent(); text != "" {
				p.say("Your message was: " + text)
			}
		}
		p.run(cmd)
	}
}

// stop ends the turn, keeping what was written so far.
func (p *Interface) stop() {
	if p.Root.Working() {
		p.Root.Stop()
		p.say("Stopping the agent. Interrupt again to leave.")
	}
}
