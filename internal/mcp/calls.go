package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what a server may ask while one call of it runs, or while none does.
const (
	maxQuestions = 30   // that the user answers
	maxRequests  = 1000 // of all kinds
)

// calls are those that a server works on now, by the token that its progress names.
type calls struct {
	mu   sync.Mutex
	last int
	by   map[string]*runningCall
	idle count // what was asked since no call runs
}

// runningCall is one of them.
type runningCall struct {
	watch
	end    context.CancelCauseFunc
	limit  time.Duration // how long the server may give no sign
	timer  *time.Timer   // ends the call then
	asking int           // how many questions wait for the user: the server's time stands still
	count
}

// count is what a server asked.
type count struct{ questions, requests int }

// add counts and returns why it is too much, or nil.
func (c *count) add(question bool) error {
	c.requests++
	if question {
		c.questions++
	}
	switch {
	case c.questions > maxQuestions:
		return fmt.Errorf("it asked the user more than %d times", maxQuestions)
	case c.requests > maxRequests:
		return fmt.Errorf("it asked more than %d times", maxRequests)
	}
	return nil
}

// begin makes a token, under which a call is known until it has ended.
func (c *calls) begin(r *runningCall) (token string, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	token = fmt.Sprintf("adze-%d", c.last)
	if c.by == nil {
		c.by = map[string]*runningCall{}
	}
	c.by[token], c.idle = r, count{}
	r.timer = time.AfterFunc(r.limit, func() { r.end(errNoSign) })
	return token, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.by, token)
		r.timer.Stop()
	}
}

// asks counts what the server asks, a question to the user or another request, and
// ends the calls in which it is too much. An error: nothing is to be answered. Where no call runs,
// over says that the conversation is to end.
func (c *calls) asks(question bool) (over bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.by) == 0 {
		err = c.idle.add(question)
		return err != nil, err
	}
	for _, r := range c.by {
		if why := r.add(question); why != nil {
			r.end(errAsks{why})
			err = why
		}
	}
	return false, err
}

// progress goes to the call that it is of; the last one may come after the result, and is then
// nobody's.
func (c *calls) progress(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	c.mu.Lock()
	r, ok := c.by[fmt.Sprint(p.ProgressToken)]
	if ok && r.asking == 0 {
		r.timer.Reset(r.limit)
	}
	c.mu.Unlock()
	if ok {
		r.show(progress(p))
	}
}

// Waits says that the calls of a server wait for a user, until over is called: that time is not
// theirs.
func (p *Pool) Waits(server string) (over func()) {
	v := p.servers[server]
	if v == nil {
		return func() {}
	}
	c := &v.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	running := slices.Collect(maps.Values(c.by))
	var told []func()
	for _, r := range running {
		r.asking++
		r.timer.Stop()
		told = append(told, r.waits())
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, r := range running {
			told[i]()
			if r.asking--; r.asking == 0 {
				r.timer.Reset(r.limit)
			}
		}
	}
}
