package match

import (
	"context"

	"adze/internal/text/kern"
)

// newBuffer allocates spare capacity for the kernels, which read many bytes at once.
func newBuffer(size int) []byte { return make([]byte, size, size+kern.Slack) }

// grow enlarges the buffer. It waits until no other scanner for the query has a large one.
func (s *Scanner) grow(ctx context.Context, size int) error {
	var longer []byte
	if size > largeBuffer && !s.large {
		select {
		case longer = <-s.m.large:
			s.large = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if cap(longer) < size+kern.Slack {
		longer = newBuffer(size)
	}
	longer = longer[:size]
	copy(longer, s.buf[:s.end])
	if len(s.buf) <= s.window && size > s.window {
		s.usual = s.buf
	}
	s.buf = longer
	return nil
}

// longer returns the next buffer size for a line that fills the buffer, limited by the file size if
// known.
func (s *Scanner) longer() int {
	size := min(4*len(s.buf), s.maxLine)
	if r, ok := s.source.(interface{ Size() int64 }); ok && s.result.Decode == "" {
		if left := r.Size() - int64(s.discarded-s.begun); left >= int64(len(s.buf)) {
			size = int(min(int64(size), left+1)) // one more, to see the end
		}
	}
	return size
}

// shrink restores the usual buffer and passes a large one to the next scanner that needs it.
func (s *Scanner) shrink() {
	var large []byte
	if len(s.buf) > s.window && (!s.m.multiline || len(s.buf) > largeBuffer) {
		large, s.buf, s.usual = s.buf, s.usual, nil
	}
	if s.large {
		s.large = false
		s.m.large <- large
	}
}
