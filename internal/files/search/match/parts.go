package match

import (
	"context"
	"io"
)

// Part is a piece of a file, of whole lines.
type Part struct {
	From, To int64
	Lines    int // in front of it
}

// RunParts searches parts of a file as Run does all of it: what they leave out is known to hold no
// match. They are in order and apart from each other. It is not for queries across lines, nor with
// context.
func (s *Scanner) RunParts(ctx context.Context, r io.ReaderAt, parts []Part, keep int) (Found, error) {
	s.reset(keep)
	for _, p := range parts {
		s.pos, s.end, s.counted, s.shown = 0, 0, 0, 0
		s.line, s.gone = p.Lines, int(p.From)
		if err := s.rolling(ctx, io.NewSectionReader(r, p.From, p.To-p.From)); err != nil {
			return s.conclude(err)
		}
		if s.found.Skip != Searched || s.enough() {
			break
		}
	}
	return s.conclude(nil)
}
