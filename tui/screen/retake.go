package screen

import "github.com/charmbracelet/x/term"

// Retake takes the terminal over again after somebody else may have used it, and paints everything
// anew. It reports false while the screen is suspended: then Resume does that.
func (s *Screen) Retake() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active {
		return false
	}
	if s.in != nil {
		_, _ = term.MakeRaw(s.in.Fd()) // the modes to restore are those of the beginning
	}
	s.fresh = true
	b := s.toOver(nil, false)
	s.region = region{}                                    // somebody else moved the cursor: begin where it is
	s.put(append(b, s.way.giveBack()+s.way.takeOver()...)) // given back first, so that nothing is remembered twice
	if s.last.Mouse {
		s.put([]byte(mouseOn))
	}
	s.write(s.last)
	return true
}
