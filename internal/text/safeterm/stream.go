package safeterm

// Stream cleans prose that arrives in pieces. What Add returned so far plus End is what Clean would
// return for the whole, wherever the pieces were cut: inside an escape sequence, inside a
// character. The zero value is ready. A Stream belongs to one goroutine.
type Stream struct{ m machine }

// Add takes the next piece and returns what of the text so far can be shown now.
func (s *Stream) Add(piece string) Text {
	if s.m.resting() && piece != "" && plain(piece, true) == len(piece) {
		s.m.wrote(rune(piece[len(piece)-1]))
		return Text{piece}
	}
	return Text{string(s.m.feed(make([]byte, 0, len(piece)+4), piece))}
}

// End finishes the text: half a character becomes U+FFFD, an open sequence is dropped. The Stream
// is then ready for another text.
func (s *Stream) End() Text {
	rest := s.m.end(nil)
	s.m = machine{}
	return Text{string(rest)}
}
