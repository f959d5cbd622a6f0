package lsp

import (
	"context"
	"sync"
)

// later keeps what servers said of changes that nobody waited for any more.
type later struct {
	mu       sync.Mutex
	found    []Findings
	expected int           // that are to come
	changed  chan struct{} // closed and replaced when one has come
}

// expect notes that findings are to come.
func (s *Servers) expect() {
	s.later.mu.Lock()
	defer s.later.mu.Unlock()
	s.later.expected++
}

// deliver brings findings that were expected; if false, there is nothing to tell.
func (s *Servers) deliver(f Findings, ok bool) {
	l := &s.later
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected--
	if ok {
		l.found = append(l.found, f)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// Late takes the findings of changes of which it was told that nothing is known yet, or not all.
func (s *Servers) Late() []Findings {
	s.later.mu.Lock()
	defer s.later.mu.Unlock()
	found := s.later.found
	s.later.found = nil
	return found
}

// Missing is of how many changes findings are still to come.
func (s *Servers) Missing() int {
	s.later.mu.Lock()
	defer s.later.mu.Unlock()
	return s.later.expected
}

// Await waits until all findings that are expected have come, or ctx ends. It reports whether any
// wait to be taken.
func (s *Servers) Await(ctx context.Context) bool {
	for {
		s.later.mu.Lock()
		waiting, expected, changed := len(s.later.found) > 0, s.later.expected, s.later.changed
		s.later.mu.Unlock()
		if expected == 0 {
			return waiting
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return waiting
		}
	}
}
