package programs

import (
	"regexp"
	"strings"
	"sync"
)

// awk reads a program of the words that compute and print, and the files after it.
func (s *scan) awk() bool {
	program := ""
	for i := 0; i < len(s.args); i++ {
		w := s.args[i]
		switch {
		case !w.Known:
			return false
		case w.Text == "-F" || w.Text == "-v":
			if i++; i == len(s.args) || !s.args[i].Known || w.Text == "-v" && !variable().MatchString(s.args[i].Text) {
				return false
			}
		case strings.HasPrefix(w.Text, "-F") && program == "":
		case strings.HasPrefix(w.Text, "-") && w.Text != "-":
			return false
		case program == "":
			program = w.Text
			if program == "" || !computes(program) {
				return false
			}
		default:
			s.access(Read, w.Text)
		}
	}
	return program != "" && !s.odd
}

// variable finds what -v may set: none of those with a meaning for awk.
var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]*=[^\\]*$|^O?FS=[^\\]*$`) })

// pieces are the parts of a program that mean the same to every awk.
var pieces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(\s+)|("(?:[^"\\\n]|\\[^\n])*")|([A-Za-z_]\w*)|(\d+(?:\.\d+)?)|(\+\+|--|==|!=|<=|&&|\|\||[-+*%=!<~,;:?(){}\[\]$]))`)
})

// computes reports a program made of nothing else. Left out is all that reaches out: >, |, getline,
// system, functions of its own, and what names files, programs or the environment. A slash is read
// only where it cannot be both the start of a pattern and a division: else a text could be a
// pattern here and code for awk.
func computes(program string) bool {
	last, line := "", false // the piece before, and whether a line end stands between
	for program != "" {
		if program[0] == '/' {
			size := 1
			switch {
			case oneOf(last, "", "(", ",", "~", "!", "&&", "||", "{", ";", "}"):
				if size = regex(program); size == 0 {
					return false
				}
				last = "pattern"
			case line || !value(last):
				return false
			default:
				last = "/"
			}
			program, line = program[size:], false
			continue
		}
		m := pieces().FindStringSubmatch(program)
		if m == nil {
			return false
		}
		program = program[len(m[0]):]
		if m[1] != "" {
			line = line || strings.Contains(m[1], "\n")
			continue
		}
		if m[3] != "" && !harmlessName(m[3], strings.HasPrefix(program, "(")) {
			return false
		}
		last, line = m[0], false
	}
	return true
}

// value reports a piece behind which a slash divides: a variable, a number, an element.
func value(piece string) bool {
	if piece == "]" || piece != "" && piece[0] >= '0' && piece[0] <= '9' {
		return true
	}
	name := piece != "" && (piece[0] == '_' || piece[0]|0x20 >= 'a' && piece[0]|0x20 <= 'z')
	return name && piece != "pattern" && !oneOf(piece, "print", "printf", "in", "return", "else", "do", "exit", "next", "nextfile", "break", "continue",
		"delete", "if", "while", "for", "switch", "case", "default", "BEGIN", "END", "length")
}

// regex is the length of a regular expression at the start of a text.
func regex(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			size := strings.IndexByte(text[i:], ']')
			if size < 2 || text[i+1] == '^' && size < 3 || strings.ContainsAny(text[i:i+size], "/\\\n") {
				return 0 // a bracket may hold the slash
			}
			i += size
		case '\n':
			return 0
		case '/':
			return i + 1
		}
	}
	return 0
}

// harmlessName reports a word of the language or a variable of the program's own: those are written
// in small letters.
func harmlessName(name string, called bool) bool {
	if called {
		return oneOf(name, "length", "substr", "index", "split", "sub", "gsub", "match", "sprintf", "toupper", "tolower", "int", "sqrt",
			"exp", "log", "sin", "cos", "rand", "srand", "if", "while", "for", "print", "printf", "in", "gensub", "strftime", "systime")
	}
	if oneOf(name, "BEGIN", "END", "NF", "NR", "FNR", "FS", "OFS", "RS", "ORS", "FILENAME", "SUBSEP", "RSTART", "RLENGTH") {
		return true
	}
	return name == strings.ToLower(name) && !oneOf(name, "getline", "system", "close", "fflush", "function", "func", "include", "load", "namespace", "extension", "bindtextdomain", "dcgettext", "dcngettext")
}
