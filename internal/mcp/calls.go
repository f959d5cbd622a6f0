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

// Limits of a server's requests during one call, or while no call runs.
const (
	maxQuestions = 30 // answered by the user
	maxRequests  = 1000
)

// calls holds a server's running calls by their progress token.
type calls struct {
	mu   sync.Mutex
	last int
	byID map[string]*runningCall
	idle count // requests since the last call ended
}

type runningCall struct {
	watch
	end    context.CancelCauseFunc
	limit  time.Duration // longest time without progress
	timer  *time.Timer   // ends the call after limit
	asking int           // questions waiting for the user; the timer stands still
	count
}

type count struct{ questions, requests int }

// add counts a request and returns an error once there are too many.
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

// begin registers a call under a new token until end is called.
func (c *calls) begin(r *runningCall) (token string, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	token = fmt.Sprintf("adze-%d", c.last)
	if c.byID == nil {
		c.byID = map[string]*runningCall{}
	}
	c.byID[token], c.idle = r, count{}
	r.timer = time.AfterFunc(r.limit, func() { r.end(errNoSign) })
	return token, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.byID, token)
		r.timer.Stop()
	}
}

// asks counts a question to the user or another request of the server, and ends the calls that
// exceed their limit. On an error the request gets no answer. If no call runs, over reports that
// the connection must end.
func (c *calls) asks(question bool) (over bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byID) == 0 {
		err = c.idle.add(question)
		return err != nil, err
	}
	for _, r := range c.byID {
		if why := r.add(question); why != nil {
			r.end(errAsks{why})
			err = why
		}
	}
	return false, err
}

// progress passes progress to its call. The last one may arrive after the result and is dropped.
func (c *calls) progress(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	c.mu.Lock()
	r, ok := c.byID[fmt.Sprint(p.ProgressToken)]
	if ok && r.asking == 0 {
		r.timer.Reset(r.limit)
	}
	c.mu.Unlock()
	if ok {
		r.show(progress(p))
	}
}

// Waits stops the timers of a server's calls while a user is asked, until over is called.
func (p *Pool) Waits(server string) (over func()) {
	v := p.servers[server]
	if v == nil {
		return func() {}
	}
	c := &v.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	running := slices.Collect(maps.Values(c.byID))
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
