package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/session/api"
	"adze/tui/prompt"
)

// elsewhere is a request from another window of the user, such as a web page.
type elsewhere func(m *model) tea.Cmd

// Work runs do in place of a turn and returns true once it has started. It returns false if a turn
// runs or the interface has ended.
func (o *observer) Work(ctx context.Context, do func(context.Context) session.Result) bool {
	return o.work(ctx, job{run: do})
}

// RunExclusive is like Work, but waits until do has returned, and the interface shows no end of
// turn.
func (o *observer) RunExclusive(ctx context.Context, do func(context.Context)) bool {
	did, over := make(chan struct{}), make(chan struct{})
	began := o.work(ctx, job{over: func() { close(over) }, run: func(ctx context.Context) session.Result {
		defer close(did)
		do(ctx)
		return session.Result{Cause: session.CauseDone}
	}})
	if began {
		<-did
		select {
		case <-over:
		case <-o.ended:
		}
	}
	return began
}

func (o *observer) work(ctx context.Context, j job) bool {
	return o.visit(ctx, func(m *model, came func(bool)) tea.Cmd {
		if m.undo.rewinding {
			came(false)
			return nil
		}
		return m.turns.take(j, came)
	})
}

// take starts a job if no turn runs. If the current turn has ended but is not finished yet, it
// waits for that.
func (t *turns) take(j job, came func(bool)) tea.Cmd {
	if t.working() && t.turn.ended && !t.leaving {
		t.then = append(t.then, func() tea.Cmd { return t.take(j, came) })
		return nil
	}
	free := !t.working()
	came(free)
	if !free {
		return nil
	}
	return t.begin(j)
}

// Unqueue removes a waiting message and reports whether it found one with this text.
func (o *observer) Unqueue(ctx context.Context, text string) bool {
	return o.visit(ctx, func(m *model, came func(bool)) tea.Cmd { came(m.prompt.Withdraw(text)); return nil })
}

// GoOn ends the interface and continues with next. It returns false if a turn runs.
func (o *observer) GoOn(ctx context.Context, next api.Next) bool {
	return o.visit(ctx, func(m *model, came func(bool)) tea.Cmd {
		free := !m.working()
		came(free)
		if !free {
			return nil
		}
		return m.stopper.quit(next)
	})
}

// atEffort announces the effort now in force.
type atEffort string

// AtEffort shows an effort set by the program.
func (o *observer) AtEffort(name string) { o.bridge.push(atEffort(name)) }

// Rewound removes the last prompt and everything after it from the view.
func (o *observer) Rewound() {
	o.bridge.push(elsewhere(func(m *model) tea.Cmd {
		m.transcript.Rewind()
		m.turns.forget()
		if !m.transcript.HasUserMessage() {
			m.status.Unnamed()
		}
		return nil
	}))
}

// visit runs do in the event loop and returns the result passed to came, or false if ctx or the
// interface ends first.
func (o *observer) visit(ctx context.Context, do func(m *model, came func(bool)) tea.Cmd) bool {
	came := make(chan bool, 1)
	o.bridge.push(elsewhere(func(m *model) tea.Cmd {
		if ctx.Err() != nil { // the sender has already received false
			return nil
		}
		return do(m, func(ok bool) { came <- ok })
	}))
	select {
	case ok := <-came:
		return ok
	case <-ctx.Done():
	case <-o.ended:
	}
	return false
}

// waiting reports waiting messages to the program.
type waiting struct {
	prompt          *prompt.Line
	tell            func(queued, steered []string) // may be nil
	queued, steered []string                       // as last reported
}

// look reports the messages if they have changed.
func (w *waiting) look() {
	if w.tell == nil {
		return
	}
	queued, steered := w.prompt.Waits()
	if !slices.Equal(queued, w.queued) || !slices.Equal(steered, w.steered) {
		w.queued, w.steered = queued, steered
		w.tell(queued, steered)
	}
}
