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
	by   map[string]func(*sdk.ProgressNotificationParams)
}

// begin makes a token, under which tell hears the progress until the call has ended.
func (c *calls) begin(tell func(*sdk.ProgressNotificationParams)) (token string, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	token = fmt.Sprintf("adze-%d", c.last)
	if c.by == nil {
		c.by = map[string]func(*sdk.ProgressNotificationParams){}
	}
	c.by[token] = tell
	return token, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.by, token)
	}
}

// progress goes to the call that it is of; the last one may come after the result, and is then nobody's.
func (c *calls) progress(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	c.mu.Lock()
	tell := c.by[fmt.Sprint(p.ProgressToken)]
	c.mu.Unlock()
	if tell != nil {
		tell(p)
	}
}
