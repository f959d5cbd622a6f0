package mcp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Bounds of what servers do beside their calls.
const (
	maxAsked = 20 // lines about it in one call
	// asideTime is how long a call that has ended waits for what was done for it to end, too.
	asideTime = time.Second
)

// Aside is what a server wants done while calls of it run, such as a question to a model.
type Aside struct {
	calls  *calls
	of     map[string]*running // the calls, by their tokens; it ends with the last of them
	cancel context.CancelFunc
	over   chan struct{}
}

// Aside begins one: the context ends with the last of the calls that run now, whose time it takes.
// No call: nothing is wanted of anybody, and there is none. End has to be called.
func (p *Pool) Aside(ctx context.Context, server string) (context.Context, *Aside) {
	v := p.servers[server]
	if v == nil {
		return ctx, nil
	}
	c := &v.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.by) == 0 {
		return ctx, nil
	}
	a := &Aside{calls: c, of: map[string]*running{}, over: make(chan struct{})}
	ctx, a.cancel = context.WithCancel(ctx)
	maps.Copy(a.of, c.by)
	c.asides = append(c.asides, a)
	return ctx, a
}

// Note tells in those calls what was done.
func (a *Aside) Note(text string) {
	a.calls.mu.Lock()
	var tell []func(string)
	for _, r := range a.of {
		tell = append(tell, r.note)
	}
	a.calls.mu.Unlock()
	for _, note := range tell {
		note(text)
	}
}

// End says that it is done.
func (a *Aside) End() {
	a.cancel()
	a.calls.mu.Lock()
	defer a.calls.mu.Unlock()
	a.calls.asides = slices.DeleteFunc(a.calls.asides, func(b *Aside) bool { return a == b })
	close(a.over)
}

// leave takes a call that has ended out of what is done beside it, and waits for what was done for
// it alone.
func (c *calls) leave(token string) {
	c.mu.Lock()
	delete(c.by, token)
	var ending []*Aside
	for _, a := range c.asides {
		if _, ok := a.of[token]; !ok {
			continue
		}
		if len(a.of) > 1 {
			delete(a.of, token)
			continue
		}
		a.cancel() // it stays this call's: it may still tell how it ended
		ending = append(ending, a)
	}
	c.mu.Unlock()
	timer := time.NewTimer(asideTime)
	defer timer.Stop()
	for _, a := range ending {
		select {
		case <-a.over:
		case <-timer.C:
			c.mu.Lock()
			delete(a.of, token) // nothing is told in a call that is over
			c.mu.Unlock()
			return
		}
	}
}

// watch is who looks at a call.
type watch struct {
	show  func(progress string)
	waits func() (over func()) // a user is waited for
	asked *asked
}

// asked are lines about what a server asked the model.
type asked struct {
	mu    sync.Mutex
	lines []string
}

func (a *asked) add(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.lines) < maxAsked {
		a.lines = append(a.lines, text)
	}
}

func (a *asked) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.lines)
}
