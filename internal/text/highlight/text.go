package highlight

import "strings"

func (s *scanner) comment(rest string) bool {
	for _, begin := range s.g.line {
		if strings.HasPrefix(rest, begin) && (!s.g.needsSpace || s.pos == 0 || strings.IndexByte(" \t\n;", s.s[s.pos-1]) >= 0) {
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			s.emit(Comment, n)
			return true
		}
	}
	for _, b := range s.g.block {
		if strings.HasPrefix(rest, b[0]) {
			s.emit(Comment, s.blockEnd(rest, b))
			return true
		}
	}
	return false
}

// blockEnd returns a comment's length; an unterminated one extends to the end.
func (s *scanner) blockEnd(rest string, b [2]string) int {
	depth := 1
	for i := len(b[0]); ; {
		end := strings.Index(rest[i:], b[1])
		if end < 0 {
			return len(rest)
		}
		if s.g.nests {
			depth += strings.Count(rest[i:i+end], b[0])
		}
		i += end + len(b[1])
		if depth--; depth == 0 || !s.g.nests {
			return i
		}
	}
}

// maxRegexp bounds the search for the end of a regular expression, which may be a division.
const maxRegexp = 300

func (s *scanner) quoted(rest string) bool {
	if s.g.ticks && rest[0] == '\'' {
		return s.tick(rest)
	}
	if s.g.regexp && rest[0] == '/' && s.value {
		if n := findEnd(rest[:min(len(rest), maxRegexp)], quote{"/", "/", true, false}, false); n > 2 {
			s.emit(String, n)
			return true
		}
		return false
	}
	for _, q := range s.g.quotes {
		if strings.HasPrefix(rest, q.open) {
			n := s.quoteEnd(rest, q)
			kind := String
			if s.g.keys == ':' && !s.g.keyWords && q.open == `"` && followed(rest[n:], ':') {
				kind = Property
			}
			s.emit(kind, n)
			return true
		}
	}
	return false
}

// quoteEnd returns a string's length. An unterminated multi-line string ends with its line.
func (s *scanner) quoteEnd(rest string, q quote) int {
	if q.lines && !s.lost[q.end] {
		if n := findEnd(rest, q, true); n > 0 {
			return n
		}
		if s.lost == nil {
			s.lost = map[string]bool{}
		}
		s.lost[q.end] = true
	}
	if n := findEnd(rest, q, false); n > 0 {
		return n
	}
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		return max(n, 1)
	}
	return len(rest)
}

// findEnd returns the length of a string including its end, or 0 if it does not end (on its line).
func findEnd(rest string, q quote, lines bool) int {
	for i := len(q.open); i < len(rest); i++ {
		switch {
		case rest[i] == '\n' && !lines:
			return 0
		case q.escape && rest[i] == '\\' && !(i+1 < len(rest) && rest[i+1] == '\n' && !lines):
			i++
		case strings.HasPrefix(rest[i:], q.end):
			return i + len(q.end)
		}
	}
	return 0
}

// tick scans 'a' and '\n', which are strings, and 'a, which is a name.
func (s *scanner) tick(rest string) bool {
	n := strings.IndexByte(rest[1:], '\'')
	switch {
	case n >= 1 && n <= 4 && !strings.ContainsAny(rest[1:1+n], " ,>)\n") || n == 1:
		s.emit(String, n+2)
	case strings.HasPrefix(rest, `'\`) && n >= 1 && n <= 12:
		s.emit(String, n+2)
	default:
		k := 1
		for k < len(rest) && s.wordByte(rest[k]) {
			k++
		}
		s.emit(Property, k)
	}
	return true
}
