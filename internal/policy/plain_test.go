package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"adze/internal/policy/script"
)

// The parser is not bash's own. Here stands a second reader, which knows only what is in this file:
// words of harmless characters and quotes, lists and pipelines, the null device. Where a text is
// plain to it, both have to find the same commands. What runs does not depend on it: what a rule
// allows is written anew for bash from what the parser found.

// scanner reads plain text byte by byte, after the rules in bash(1) under QUOTING, COMMENTS and
// REDIRECTION.
type scanner struct {
	text     string
	at       int
	commands [][]string
	current  []string
	first    bool   // the next pipeline begins: ! and time count
	piped    bool   // after |, a command must follow
	joined   bool   // after && or ||, a command must follow
	odd      string // why the text is not plain
}

// readAgain is what the second reader says of a text: why it is not plain, or whether it finds the
// same commands in it.
func readAgain(text string, simples []simple) (odd string, same bool) {
	s := scanner{text: text, first: true}
	for s.odd == "" && s.at < len(s.text) {
		s.step()
	}
	s.end(true)
	if s.odd != "" {
		return s.odd, false
	}
	var read [][]string
	for _, one := range simples {
		if !one.inner {
			read = append(read, script.Texts(one.words))
		}
	}
	return "", slices.EqualFunc(read, s.commands, slices.Equal)
}

func (s *scanner) refuse(format string, args ...any) {
	if s.odd == "" {
		s.odd = fmt.Sprintf(format, args...)
	}
}

func (s *scanner) rest() string { return s.text[s.at:] }

// take consumes the first of the given prefixes that is next.
func (s *scanner) take(prefixes ...string) string {
	for _, p := range prefixes {
		if strings.HasPrefix(s.rest(), p) {
			s.at += len(p)
			return p
		}
	}
	return ""
}

// step reads one blank, comment, operator, redirection or word.
func (s *scanner) step() {
	if s.take(" ", "\t", "\\\n") != "" {
		return
	}
	switch op := s.take("\n", ";", "&&", "||", "|&", "|"); {
	case op == "\n":
		s.line()
	case op != "":
		s.operator(op)
	case s.rest()[0] == '#':
		end := strings.IndexByte(s.rest(), '\n')
		if end < 0 {
			end = len(s.rest())
		}
		s.at += end
	case strings.ContainsRune("<>&", rune(s.rest()[0])):
		s.redirect()
	default:
		s.word()
	}
}

// line ends a command, but not after an operator that wants one more.
func (s *scanner) line() {
	if len(s.current) > 0 || !s.piped && !s.joined {
		s.end(false)
		s.first = true
	}
}

func (s *scanner) operator(op string) {
	if len(s.current) == 0 {
		s.refuse("it has %s without a command before it", op)
		return
	}
	s.end(false)
	s.first = op != "|" && op != "|&"
	s.piped, s.joined = !s.first, op == "&&" || op == "||"
}

// end takes the command that was read; last says that the text is over too.
func (s *scanner) end(last bool) {
	if len(s.current) > 0 {
		s.commands = append(s.commands, s.current)
		s.current, s.piped, s.joined = nil, false, false
	}
	if last && (s.piped || s.joined) {
		s.refuse("its last operator has no command after it")
	}
}

// redirect lets pass what goes to the null device or to another of the first three descriptors. A
// digit before it was read with the word.
func (s *scanner) redirect() {
	if len(s.current) == 0 {
		s.refuse("it redirects before it names a program")
		return
	}
	op := s.take("&>>", "&>", ">&", "<&", ">>", ">", "<")
	for op != "" && !strings.HasSuffix(op, "&") && s.take(" ", "\t") != "" {
	}
	from := s.at
	for s.at < len(s.text) && strings.IndexByte(" \t\n;|&<>", s.text[s.at]) < 0 {
		s.at++
	}
	target := s.text[from:s.at]
	switch {
	case (op == ">&" || op == "<&") && (target == "0" || target == "1" || target == "2"):
	case op != "" && !strings.HasSuffix(op, "&") && target == "/dev/null":
	default:
		s.refuse("it redirects to or from more than the null device, or runs in the background")
	}
}

// word reads one word and places it.
func (s *scanner) word() {
	var b strings.Builder
	from := s.at
	for s.odd == "" && s.at < len(s.text) && strings.IndexByte(" \t\n;|&<>", s.text[s.at]) < 0 {
		s.piece(&b, s.at == from)
	}
	raw := s.text[from:s.at]
	if len(raw) == 1 && raw >= "0" && raw <= "9" && s.at < len(s.text) && (s.text[s.at] == '<' || s.text[s.at] == '>') {
		if s.text[s.at] == '<' && raw != "0" || len(s.current) == 0 {
			s.refuse("it redirects in an unusual way")
		}
		return // the descriptor of a redirection
	}
	if len(s.current) == 0 {
		s.head(raw, b.String())
		return
	}
	s.current = append(s.current, b.String())
}

// head places the first word of a command, which may mean something to the shell itself.
func (s *scanner) head(raw, text string) {
	switch {
	case strings.Contains(raw, "="):
		s.refuse("it sets a variable, or names a program with = in its name")
	case oneOf(raw, "! time") && s.first:
		s.first = false // once only; what follows must be a command
		s.joined = true
	case oneOf(raw, "! time if then else elif fi for while until do done case esac in select function coproc [[ ]] declare typeset local export readonly let"),
		strings.HasPrefix(raw, "-"), text == "":
		s.refuse("it has %s where a program is expected", quote(raw))
	default:
		s.current = append(s.current, text)
	}
}

// piece reads one character or one quoted part.
func (s *scanner) piece(b *strings.Builder, start bool) {
	switch c := s.text[s.at]; {
	case s.take("\\\n") != "":
	case c == '\'':
		inner, _, closed := strings.Cut(s.text[s.at+1:], "'")
		if !closed {
			s.refuse("a quote is not closed")
		}
		b.WriteString(inner)
		s.at += len(inner) + 2
	case c == '"':
		s.at++
		s.quoted(b)
	case s.take("{}") != "":
		b.WriteString("{}")
	case c == '$' && (s.at+1 == len(s.text) || strings.IndexByte(" \t\n;|&", s.text[s.at+1]) >= 0):
		b.WriteByte('$')
		s.at++
	case c == '~' && (start || s.text[s.at-1] == ':' || s.text[s.at-1] == '='), strings.IndexByte("\\$`*?[(){}", c) >= 0:
		s.refuse("it has %q outside quotes", string(c))
	default:
		s.bare(b)
	}
}

// bare reads one character that stands for itself. Some systems take the bytes 85 and A0 for
// blanks.
func (s *scanner) bare(b *strings.Builder) {
	r, size := utf8.DecodeRuneInString(s.rest())
	raw := s.rest()[:size]
	blank := strings.IndexByte(raw, 0x85) >= 0 || strings.IndexByte(raw, 0xa0) >= 0
	if r >= 0x80 && (blank || !unicode.IsLetter(r) && !unicode.IsDigit(r)) {
		s.refuse("it has %q outside quotes", raw)
	}
	b.WriteString(raw)
	s.at += size
}

// quoted reads to the closing double quote, which stands after what may be read.
func (s *scanner) quoted(b *strings.Builder) {
	for s.at < len(s.text) {
		c := s.text[s.at]
		next := byte(0)
		if s.at+1 < len(s.text) {
			next = s.text[s.at+1]
		}
		switch {
		case c == '"':
			s.at++
			return
		case c == '`', c == '$' && strings.IndexByte("\" |/)", next) < 0:
			s.refuse("it expands %q inside quotes", string(c)+string(next))
			return
		case c == '\\' && next == '\n':
			s.at++
		case c == '\\' && next != 0 && strings.IndexByte("$`\"\\", next) >= 0:
			b.WriteByte(next)
			s.at++
		default:
			b.WriteByte(c)
		}
		s.at++
	}
	s.refuse("a quote is not closed")
}

// TestBothReadersFindTheSameCommands holds the parser against the second reader in every text of
// the case files, alone and as parts of others.
func TestBothReadersFindTheSameCommands(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	p, plain := newPolicy(t, AskFirst, nil), 0
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue // a folder of seeds
		}
		for line := range strings.Lines(string(raw)) {
			_, text, cased := strings.Cut(strings.TrimSpace(line), "\t")
			if !cased {
				text = strings.TrimSpace(line)
			}
			for _, text := range []string{text, text + "; ls -l 'a b'", "true && " + text, text + " | sort 2>/dev/null", "! " + text + " # a word"} {
				c := read(text, "")
				if c.refused != nil || c.top.Broken != nil {
					continue
				}
				odd, same := readAgain(text, c.simples)
				if odd == "" {
					plain++
				}
				if _, err := p.script(c, "/w"); odd == "" && !same && err == nil {
					t.Errorf("%q reads as %q", text, c.text())
				}
			}
		}
	}
	if plain < 500 {
		t.Errorf("%d texts were plain", plain)
	}
}
