package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/session/api"
	"adze/tui/prompt"
)

// elsewhere is something that the user asked for from another window of theirs, such as a page.
type elsewhere func(m *model) tea.Cmd

// Work has something of the user's own done in place of a turn. If false, a turn runs, or nobody
// looks any more; else it is done, and is over when it returns.
func (o *observer) Work(ctx context.Context, do func(context.Context) session.Result) bool {
	return o.work(ctx, job{run: do})
}

// Aside is Work for what is no turn: nothing is shown of its end.
func (o *observer) Aside(ctx context.Context, do func(context.Context)) bool {
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
		case <-o.gone:
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

// take begins a job where no turn runs. One that has ended, and is not done yet, is waited for.
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

// Unqueue takes back a message that waits; if false, none of this text does.
func (o *observer) Unqueue(ctx context.Context, text string) bool {
	return o.visit(ctx, func(m *model, came func(bool)) tea.Cmd { came(m.prompt.Withdraw(text)); return nil })
}

// GoOn ends the interface to go on with something else. If false, a turn runs.
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

// atEffort says that another effort is in force.
type atEffort string

// AtEffort shows an effort that the program has put in force.
func (o *observer) AtEffort(name string) { o.bridge.push(atEffort(name)) }

// Rewound shows that the last prompt was taken back, with all that came of it.
func (o *observer) Rewound() {
	o.bridge.push(elsewhere(func(m *model) tea.Cmd {
		m.transcript.Rewind()
		m.turns.forget()
		if !m.transcript.Said() {
			m.status.Unnamed()
		}
		return nil
	}))
}

// visit does something in the interface, and returns whether that came to something; false where
// nobody looks.
func (o *observer) visit(ctx context.Context, do func(m *model, came func(bool)) tea.Cmd) bool {
	came := make(chan bool, 1)
	o.bridge.push(elsewhere(func(m *model) tea.Cmd {
		if ctx.Err() != nil { // its sender was told that it was not done
			return nil
		}
		return do(m, func(ok bool) { came <- ok })
	}))
	select {
	case ok := <-came:
		return ok
	case <-ctx.Done():
	case <-o.gone:
	}
	return false
}

// waiting tells the program which messages wait.
type waiting struct {
	prompt          *prompt.Line
	tell            func(queued, steered []string) // if nil, nobody is told
	queued, steered []string                       // as it was told
}

// look tells them where they have changed.
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
