package toolset

import "io"

// spiller keeps the whole output of a command in a file, once it is too long to be shown whole.
type spiller struct {
	open    func() (io.WriteCloser, string, error) // if nil, nothing is kept
	keep    int                                    // bytes that are shown whole
	pending []byte
	file    io.WriteCloser
	path    string
	failed  error
}

// take is called with each chunk, in order.
func (s *spiller) take(chunk []byte) {
	switch {
	case s.open == nil || s.failed != nil:
	case s.file != nil:
		_, s.failed = s.file.Write(chunk)
	default:
		s.pending = append(s.pending, chunk...)
		if len(s.pending) > s.keep {
			s.flush()
		}
	}
}

func (s *spiller) flush() {
	if s.file, s.path, s.failed = s.open(); s.failed == nil {
		_, s.failed = s.file.Write(s.pending)
	}
	s.pending = nil
}

// close returns where the whole output is. What was not cut needs no file.
func (s *spiller) close(cut bool) (path string, err error) {
	if cut && s.open != nil && s.file == nil && s.failed == nil {
		s.flush()
	}
	if s.file != nil {
		if err := s.file.Close(); s.failed == nil {
			s.failed = err
		}
	}
	if s.failed != nil || s.file == nil {
		return "", s.failed
	}
	return s.path, nil
}
