package lsp

import (
	"context"
	"slices"
)

// expect records that a check's findings follow.
func (s *Servers) expect(c *check) {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	s.pending = append(s.pending, c)
}

// forget undoes expect.
func (s *Servers) forget(c *check) {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	s.pending = slices.DeleteFunc(s.pending, func(p *check) bool { return p == c })
}

// Late returns the findings of changes that had none at their time, once each.
func (s *Servers) Late() (found []Findings) {
	s.waiting.Lock()
	var over []*check
	s.pending = slices.DeleteFunc(s.pending, func(c *check) bool {
		if c.ended() {
			over = append(over, c)
		}
		return c.ended()
	})
	s.waiting.Unlock()
	for _, c := range over {
		if f, ok := c.server.take(c, followTime); ok {
			found = append(found, f)
		}
	}
	return found
}

// PendingCount returns the number of changes whose findings are pending.
func (s *Servers) PendingCount() (n int) {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	for _, c := range s.pending {
		if !c.ended() {
			n++
		}
	}
	return n
}

// Await waits for all pending findings or ctx, and reports whether any can be taken with Late.
func (s *Servers) Await(ctx context.Context) (waiting bool) {
	s.waiting.Lock()
	pending := slices.Clone(s.pending)
	s.waiting.Unlock()
	for _, c := range pending {
		select {
		case <-c.done:
		case <-ctx.Done():
		}
		waiting = waiting || c.ended()
	}
	return waiting
}
