package screen

import "github.com/charmbracelet/x/term"

// Retake takes over the terminal again after another program may have used it, and repaints
// everything. It returns false while the screen is suspended, because Resume repaints.
func (s *Screen) Retake() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active {
		return false
	}
	if s.in != nil {
		_, _ = term.MakeRaw(s.in.Fd()) // the original modes stay the ones to restore
	}
	s.fresh = true
	b := s.toOver(nil, false)
	s.region = region{}                                       // the cursor may have moved: begin at its position
	s.emit(append(b, s.mode.giveBack()+s.mode.takeOver()...)) // give back first, so that no mode is saved twice
	if s.last.Mouse {
		s.emit([]byte(mouseOn))
	}
	s.write(s.last)
	return true
}
