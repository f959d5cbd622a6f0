// Package plain is a line-based interface for screen readers and simple terminals: it prints each
// finished entry once, in order, without colors, and never changes printed text.
//
// The one rule: it uses the screen's root (Root) and panes (Panes) with lines instead of keys, and
// makes no decisions of its own.
//
// Start reading at Interface.Run, then line in read.go; tell.go prints. Known limits: an answer is
// printed when it is complete; commands for the screen (colors, an editor, copying) are missing.
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

// Width is the width of a line, which fits every terminal.
const Width = 78

// Root is the part of the interface that lines use. Its methods are called from one goroutine; a
// command (tea.Cmd) runs in another, and Update handles its result.
type Root interface {
	// Working reports whether a turn runs.
	Working() bool
	// Send sends a message or runs the user's own command. waits reports that it is queued; why, if
	// not empty, explains a failure.
	Send(text string) (cmd tea.Cmd, waits bool, why string)
	// Steer passes a message to the agent before its next step; why, if not empty, explains a
	// failure.
	Steer(text string) (cmd tea.Cmd, why string)
	// Command runs a slash command, such as /model.
	Command(name, arg string) tea.Cmd
	// Commands lists them; Named finds one by its beginning.
	Commands() []list.Choice
	Named(name string) (full string, ok bool)
	// Apply handles an event; ended reports the end of a turn.
	Apply(x any) (cmd tea.Cmd, ended bool)
	// Update handles a command's result; returned reports that it brought a message back to the
	// user.
	Update(msg tea.Msg) (cmd tea.Cmd, returned bool)
	// Stop ends the turn; Leave ends the interface.
	Stop()
	Leave()
	// TakeMessage returns and clears the latest message for the user.
	TakeMessage() string
	// Unsent empties the prompt and returns its text.
	Unsent() string
}

// Panes are the panes to print.
type Panes struct {
	Transcript *transcript.Pane
	Dialog     *permission.Dialog
	Inquiry    *question.Dialog
	List       *list.List
	Todos      *pane.Todos
	View       *pane.View
}

// Events delivers pending events.
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
	// Closed is closed when results are no longer handled.
	Closed <-chan struct{}
	// Mute means that there is no input for questions.
	Mute bool
	// Printed is the number of entries already printed.
	Printed int

	live    bool         // the user is typing, so their messages are not repeated
	asked   time.Time    // when the question was printed or an answer was too early
	answers chan tea.Msg // command results
	offered int          // serial of the last printed list
	leave   bool
}

// Run prints the greeting, runs first (which may be nil) and handles lines until the user leaves,
// lines and turn have ended, or ctx ends.
func (p *Interface) Run(ctx context.Context, greeting []string, first func() tea.Cmd, lines <-chan Line) error {
	p.answers = make(chan tea.Msg)
	for _, text := range greeting {
		p.printText(text)
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
				lines = nil // the turn continues; unanswered questions are denied
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

// take handles an event.
func (p *Interface) take(x any) {
	switch x := x.(type) {
	case session.ToolStart:
		what := x.Tool
		if x.Heading.Verb != "" {
			what = x.Heading.String()
		}
		if x.Parent != "" {
			p.printText("Running " + what + " for " + x.Agent + ".")
		} else {
			p.printText("Running " + what + ".")
		}
		p.Root.Apply(x)
	case *permission.Asked:
		p.Dialog.Add(x)
		if p.Dialog.First() == x {
			p.ask()
		}
	case permission.Unasked:
		if p.Dialog.First() == x.Asked {
			p.printText("The question was withdrawn.")
		}
		first := p.Dialog.First() == x.Asked
		p.Dialog.Remove(x.Asked)
		if first && !p.Dialog.Open() {
			p.next() // show the model's question, which waited behind it
		}
	case *question.Asked:
		p.Inquiry.Add(x)
		if p.Inquiry.First() == x && !p.Dialog.Open() {
			p.inquire()
		}
	case question.Unasked:
		if p.Inquiry.First() == x.Asked {
			p.printText("The question was withdrawn.")
		}
		p.Inquiry.Remove(x.Asked)
	default:
		if cmd, ended := p.Root.Apply(x); ended {
			p.done(cmd)
		}
	}
	p.print()
}

// done handles the end of a turn.
func (p *Interface) done(cmd tea.Cmd) {
	p.print()
	if waited := p.Root.Unsent(); waited != "" {
		p.printText("Not sent: " + waited)
	}
	if !p.leave && !p.Root.Working() {
		p.printText("Ready.")
	}
	p.run(cmd)
}

// run runs a command in the background; its result returns through the loop.
func (p *Interface) run(cmd tea.Cmd) {
	if cmd != nil {
		go func() {
			select {
			case p.answers <- cmd():
			case <-p.Closed:
			}
		}()
	}
	p.told()
}

// answered handles a command's result.
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
		p.Printed = min(p.Printed, p.Transcript.Len())
		if returned {
			if text := p.Root.Unsent(); text != "" {
				p.printText("Your message was: " + text)
			}
		}
		p.run(cmd)
	}
}

// stop ends the turn, which keeps its partial output.
func (p *Interface) stop() {
	if p.Root.Working() {
		p.Root.Stop()
		p.printText("Stopping the agent. Interrupt again to leave.")
	}
}
