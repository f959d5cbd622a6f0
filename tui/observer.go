package tui

import (
	"context"
	"sync"

	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tui/permission"
	"adze/tui/question"
)

// observer is how the session and the program reach the interface, from any goroutine.
type observer struct {
	bridge *bridge
	gone   chan struct{} // closed when nobody looks any more
	once   sync.Once
}

func newObserver() *observer { return &observer{bridge: newBridge(), gone: make(chan struct{})} }

// leave says that nobody looks any more.
func (o *observer) leave() { o.once.Do(func() { close(o.gone) }) }

// Observe takes an event of the session. It never blocks and drops nothing.
func (o *observer) Observe(e session.Event) { o.bridge.add(e) }

// Ask shows the permission dialog and waits for the user, for ctx, or for the end of the
// interface.
func (o *observer) Ask(ctx context.Context, a ask.Permission) (ask.Answer, error) {
	q := &permission.Asked{Permission: a, Reply: make(chan ask.Answer, 1)}
	o.bridge.push(q)
	select {
	case answer := <-q.Reply:
		return answer, nil
	case <-ctx.Done():
		o.bridge.push(permission.Unasked{Asked: q})
		return ask.Answer{}, ctx.Err()
	case <-o.gone:
		return ask.Answer{}, ask.ErrClosed
	}
}

// Inquire shows a question of the model and waits for the user, for ctx, or for the end of the
// interface.
func (o *observer) Inquire(ctx context.Context, q ask.Question) (string, error) {
	asked := &question.Asked{Question: q, Reply: make(chan question.Reply, 1)}
	o.bridge.push(asked)
	select {
	case r := <-asked.Reply:
		if r.Refused {
			return "", ask.ErrClosed
		}
		return r.Text, nil
	case <-ctx.Done():
		o.bridge.push(question.Unasked{Asked: asked})
		return "", ctx.Err()
	case <-o.gone:
		return "", ask.ErrClosed
	}
}

// rewriting is a text that the user is to rewrite in their editor.
type rewriting struct {
	text  string
	reply chan edited // holds one
}

// Write lets the user rewrite a text in their own editor, and waits for it, for ctx, or for the
// end of the interface.
func (o *observer) Write(ctx context.Context, text string) (string, error) {
	w := &rewriting{text, make(chan edited, 1)}
	o.bridge.push(w)
	select {
	case e := <-w.reply:
		return e.text, e.err
	case <-ctx.Done():
		return "", ctx.Err()
	case <-o.gone:
		return "", ask.ErrClosed
	}
}

// stirred says that something changed in the background.
type stirred struct{}

// Stir has what goes on in the background looked at, and the agent told of what came from there.
func (o *observer) Stir() { o.bridge.push(stirred{}) }

// inMode says that another mode is in force.
type inMode string

// prompted is a prompt that came from elsewhere.
type prompted api.Prompt

// Prompt takes a prompt that the user sent from elsewhere: it begins a turn, or waits for the
// running one to end.
func (o *observer) Prompt(p api.Prompt) { o.bridge.push(prompted(p)) }

// InMode shows a mode that the program has put in force.
func (o *observer) InMode(name string) { o.bridge.push(inMode(name)) }
