package lsp

import (
	"context"
	"slices"
)

// expect notes that the findings of a check follow.
func (s *Servers) expect(c *check) {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	s.pending = append(s.pending, c)
}

// forget takes that back.
func (s *Servers) forget(c *check) {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	s.pending = slices.DeleteFunc(s.pending, func(p *check) bool { return p == c })
}

// Late takes the findings of changes of which it was told that nothing is known yet.
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

// Missing is of how many changes findings are still to come.
func (s *Servers) Missing() (n int) {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	for _, c := range s.pending {
		if !c.ended() {
			n++
		}
	}
	return n
}

// Await waits until all findings that are expected have come, or ctx ends. It reports whether any
// wait to be taken.
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
