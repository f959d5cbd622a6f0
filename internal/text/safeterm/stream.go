package safeterm

// Stream cleans prose that arrives in pieces. The results of Add and End together equal Clean for
// the whole, even if a piece ends inside an escape sequence or a character. The zero value is ready
// to use. It is not safe for concurrent use.
type Stream struct{ m machine }

// Add cleans the next piece and returns the text that can be shown now.
func (s *Stream) Add(piece string) Text {
	if s.m.resting() && piece != "" && plain(piece, true) == len(piece) {
		s.m.wrote(rune(piece[len(piece)-1]))
		return Text{piece}
	}
	return Text{string(s.m.feed(make([]byte, 0, len(piece)+4), piece))}
}

// End finishes the text: an incomplete character becomes U+FFFD, an open sequence is dropped. The
// Stream is then ready for another text.
func (s *Stream) End() Text {
	rest := s.m.end(nil)
	s.m = machine{}
	return Text{string(rest)}
}
