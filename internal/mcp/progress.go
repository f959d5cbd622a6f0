package mcp

import (
	"fmt"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// calls are those that a server works on now, by the token that its progress names.
type calls struct {
	mu   sync.Mutex
	last int
	by   map[string]running

	asides []*Aside
}

// running is one of them.
type running struct {
	tell func(*sdk.ProgressNotificationParams)
	wait func() (over func())    // a person is waited for
	hold func() (release func()) // somebody else is: the server's time stands still
	note func(text string)       // what was done meanwhile
}

// begin makes a token, under which a call is known until it has ended.
func (c *calls) begin(r running) (token string, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	token = fmt.Sprintf("adze-%d", c.last)
	if c.by == nil {
		c.by = map[string]running{}
	}
	c.by[token] = r
	return token, func() { c.leave(token) }
}

// progress goes to the call that it is of; the last one may come after the result, and is then
// nobody's.
func (c *calls) progress(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	c.mu.Lock()
	r, ok := c.by[fmt.Sprint(p.ProgressToken)]
	c.mu.Unlock()
	if ok {
		r.tell(p)
	}
}

// Waits says that the calls of a server wait for a person, until over is called: that time is not
// theirs.
func (p *Pool) Waits(server string) (over func()) {
	v := p.servers[server]
	if v == nil {
		return func() {}
	}
	v.calls.mu.Lock()
	defer v.calls.mu.Unlock()
	var all []func()
	for _, r := range v.calls.by {
		all = append(all, r.wait())
	}
	return func() {
		for _, over := range all {
			over()
		}
	}
}
