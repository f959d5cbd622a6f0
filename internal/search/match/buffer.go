package match

import (
	"context"

	"adze/internal/search/match/kern"
)

// newBuffer makes a buffer. What lies behind its end is for the kernels, which look at many bytes at once.
func newBuffer(size int) []byte { return make([]byte, size, size+kern.Slack) }

// grow makes the buffer longer. It waits until no other scanner of the query has a large one.
func (s *Scanner) grow(ctx context.Context, size int) error {
	if size > largeBuffer && !s.large {
		select {
		case s.m.large <- struct{}{}:
			s.large = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	longer := newBuffer(size)
	copy(longer, s.buf[:s.end])
	s.buf = longer
	return nil
}

// shrink gives up a buffer that a long line made large.
func (s *Scanner) shrink() {
	if len(s.buf) > s.window && (!s.m.multiline || len(s.buf) > largeBuffer) {
		s.buf = nil
	}
	if s.large {
		s.large = false
		<-s.m.large
	}
}
