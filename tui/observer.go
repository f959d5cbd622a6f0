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

// observer connects the session and the program with the interface, from any goroutine.
type observer struct {
	bridge *bridge
	ended  chan struct{} // closed when the interface has ended
	once   sync.Once
}

func newObserver() *observer { return &observer{bridge: newBridge(), ended: make(chan struct{})} }

// leave marks the interface as ended.
func (o *observer) leave() { o.once.Do(func() { close(o.ended) }) }

// Observe adds an event of the session. It never blocks and drops nothing.
func (o *observer) Observe(e session.Event) { o.bridge.add(e) }

// Ask shows the permission dialog and waits for the user, for ctx, or for the end of the interface.
func (o *observer) Ask(ctx context.Context, a ask.Permission) (ask.Answer, error) {
	q := &permission.Asked{Permission: a, Reply: make(chan ask.Answer, 1)}
	o.bridge.push(q)
	select {
	case answer := <-q.Reply:
		return answer, nil
	case <-ctx.Done():
		o.bridge.push(permission.Unasked{Asked: q})
		return ask.Answer{}, ctx.Err()
	case <-o.ended:
		return ask.Answer{}, ask.ErrClosed
	}
}

// Inquire shows a question from the model and waits for the user, for ctx, or for the end of the
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
	case <-o.ended:
		return "", ask.ErrClosed
	}
}

// rewriting is a request to edit a text in the user's external editor.
type rewriting struct {
	text  string
	reply chan edited // buffered, capacity 1
}

// Write opens a text in the user's external editor and waits for the result, for ctx, or for the
// end of the interface.
func (o *observer) Write(ctx context.Context, text string) (string, error) {
	w := &rewriting{text, make(chan edited, 1)}
	o.bridge.push(w)
	select {
	case e := <-w.reply:
		return e.text, e.err
	case <-ctx.Done():
		return "", ctx.Err()
	case <-o.ended:
		return "", ask.ErrClosed
	}
}

// stirred announces a change in the background.
type stirred struct{}

// Refresh refreshes the background jobs and passes waiting background results to the agent.
func (o *observer) Refresh() { o.bridge.push(stirred{}) }

// inMode announces the mode now in force.
type inMode string

// prompted is a prompt from another window.
type prompted api.Prompt

// Prompt takes a prompt from another window: it begins a turn or waits for the running one.
func (o *observer) Prompt(p api.Prompt) { o.bridge.push(prompted(p)) }

// InMode shows a mode set by the program.
func (o *observer) InMode(name string) { o.bridge.push(inMode(name)) }
