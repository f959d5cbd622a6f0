package highlight

import "strings"

func words(g grammar) Language {
	dict := g.dictionary()
	return Language{func(code string) []Token {
		s := scanner{g: &g, dict: dict, s: code, value: true}
		for s.pos < len(code) {
			s.next()
		}
		s.flush()
		return s.out
	}}
}

type scanner struct {
	g     *grammar
	dict  dictionary
	s     string
	pos   int
	from  int // s[from:pos] is not yet in a token
	out   []Token
	value bool // a value may follow, so / begins no division
	lost  map[string]bool
}

func (s *scanner) flush() {
	if s.from < s.pos {
		s.out = append(s.out, Token{Text, s.s[s.from:s.pos]})
		s.from = s.pos
	}
}

// emit adds a token for the next n bytes.
func (s *scanner) emit(k Kind, n int) {
	s.flush()
	s.out = append(s.out, Token{k, s.s[s.pos : s.pos+n]})
	s.pos += n
	s.from = s.pos
	s.value = k == Keyword || k == Comment && s.value
}

func (s *scanner) next() {
	rest := s.s[s.pos:]
	c := rest[0]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		s.pos++
	case s.g.starts() && s.atStart() && s.start(rest):
	case s.comment(rest):
	case s.quoted(rest):
	case c >= '0' && c <= '9':
		s.emit(Number, number(rest))
	case s.wordByte(c):
		s.word(rest)
	case s.marked(rest):
	default:
		s.value = strings.IndexByte(")]}", c) < 0
		s.pos++
	}
}

func (s *scanner) atStart() bool {
	for i := s.pos - 1; i >= 0 && i >= s.pos-maxIndent; i-- {
		switch s.s[i] {
		case '\n':
			return true
		case ' ', '\t':
		case '-': // begins an item in a list of keys
			if s.s[i+1] != ' ' {
				return false
			}
		default:
			return false
		}
	}
	return s.pos <= maxIndent
}

// maxIndent bounds the search back to the line start.
const maxIndent = 200

// start scans tokens specific to line starts: keys, [names], # and @ words.
func (s *scanner) start(rest string) bool {
	g := s.g
	if g.lead != "" && strings.IndexByte(g.lead, rest[0]) >= 0 {
		n := 1
		for n < len(rest) && (letter(rest[n]) || rest[n] == ' ' && n == 1) {
			n++
		}
		if n > 1 {
			s.emit(Keyword, n)
			return true
		}
	}
	end := strings.IndexByte(rest, '\n')
	if end < 0 {
		end = len(rest)
	}
	line := rest[:end]
	if g.heads && line[0] == '[' && strings.HasSuffix(strings.TrimRight(line, " \r"), "]") {
		s.emit(Type, len(line))
		return true
	}
	if !g.keyWords {
		return false
	}
	if n := key(line, g.keys); n > 0 {
		s.emit(Property, n)
		return true
	}
	return false
}

func key(line string, sep byte) int {
	n := 0
	for n < len(line) && (letter(line[n]) || digit(line[n]) || strings.IndexByte("_-./$%*<>@(){} ", line[n]) >= 0 || line[n] >= 0x80) {
		n++
	}
	if n == 0 || n == len(line) || line[n] != sep || line[0] == '-' {
		return 0
	}
	if sep == ':' && n+1 < len(line) && strings.IndexByte(" \t\r", line[n+1]) < 0 {
		return 0
	}
	return len(strings.TrimRight(line[:n], " "))
}

func number(s string) int {
	n := 1
	for n < len(s) {
		c := s[n]
		exponent := (c == '+' || c == '-') && s[n-1]|0x20 == 'e' && !strings.HasPrefix(s, "0x")
		point := c == '.' && n+1 < len(s) && digit(s[n+1])
		if !letter(c) && !digit(c) && c != '_' && !exponent && !point {
			break
		}
		n++
	}
	return n
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

func (s *scanner) wordByte(c byte) bool {
	return letter(c) || digit(c) || c == '_' || c >= 0x80 || s.g.letters != "" && strings.IndexByte(s.g.letters, c) >= 0
}

func (s *scanner) word(rest string) {
	n := 1
	for n < len(rest) && s.wordByte(rest[n]) {
		n++
	}
	if k := s.kind(rest[:n], rest[n:]); k != Text {
		s.emit(k, n)
		return
	}
	s.pos += n
	s.value = false
}

func (s *scanner) kind(word, after string) Kind {
	g := s.g
	if k, ok := s.dict[word]; ok {
		return k
	}
	if k, ok := s.dict[strings.ToLower(word)]; ok && g.fold {
		return k
	}
	switch {
	case g.keys == ':' && !g.keyWords && followed(after, ':') && !strings.HasPrefix(after, "::"):
		return Property
	case g.macros && strings.HasPrefix(after, "!") && !strings.HasPrefix(after, "!="):
		return Function
	case g.calls && strings.HasPrefix(after, "("):
		return Function
	case g.capitals && word[0] >= 'A' && word[0] <= 'Z' && strings.ToUpper(word) != word:
		return Type
	}
	return Text
}

func followed(s string, c byte) bool {
	s = strings.TrimLeft(s, " ")
	return s != "" && s[0] == c
}

const maxName = 200

func (s *scanner) marked(rest string) bool {
	if s.g.marks == "" || strings.IndexByte(s.g.marks, rest[0]) < 0 || len(rest) < 2 {
		return false
	}
	if end := map[byte]byte{'{': '}', '(': ')'}[rest[1]]; end != 0 && rest[0] == '$' {
		line, _, _ := strings.Cut(rest[:min(len(rest), maxName)], "\n")
		if n := strings.IndexByte(line, end); n > 0 && (end == '}' || !strings.Contains(line[:n], " ")) {
			s.emit(Property, n+1)
			return true
		}
		return false
	}
	n := 1
	for n < len(rest) && (s.wordByte(rest[n]) || rest[n] == rest[0]) {
		n++
	}
	if n == 1 {
		return false
	}
	s.emit(Property, n)
	return true
}
