package harmless

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

// computes reports a program made of nothing else. Left out is all that reaches out: >, |, getline, system, functions
// of its own, and what names files, programs or the environment.
func computes(program string) bool {
	operand := false // the last piece can end a value, so that / divides
	last := ""
	for program != "" {
		if program[0] == '/' {
			size := 1
			if !operand {
				if last == "++" || last == "--" {
					return false
				}
				if size = regex(program); size == 0 {
					return false
				}
			}
			last, program, operand = "/", program[size:], !operand
			continue
		}
		m := pieces().FindStringSubmatch(program)
		if m == nil {
			return false
		}
		program = program[len(m[0]):]
		switch {
		case m[1] != "":
			continue
		case m[3] != "":
			if !harmlessName(m[3], strings.HasPrefix(program, "(")) {
				return false
			}
			operand = !oneOf(m[3], "print", "printf", "in", "return", "else", "do")
		default:
			operand = m[2] != "" || m[4] != "" || oneOf(m[0], ")", "]", "++", "--")
		}
		if last = m[0]; last == "}" {
			operand = false
		}
	}
	return true
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

// harmlessName reports a word of the language or a variable of the program's own: those are written in small letters.
func harmlessName(name string, called bool) bool {
	if called {
		return oneOf(name, "length", "substr", "index", "split", "sub", "gsub", "match", "sprintf", "toupper", "tolower", "int", "sqrt",
			"exp", "log", "sin", "cos", "rand", "srand", "if", "while", "for", "print", "printf", "in", "gensub", "strftime", "systime")
	}
	if oneOf(name, "BEGIN", "END", "NF", "NR", "FNR", "FS", "OFS", "RS", "ORS", "FILENAME", "SUBSEP", "RSTART", "RLENGTH") {
		return true
	}
	return name == strings.ToLower(name) && !oneOf(name, "getline", "system", "close", "fflush", "function", "func", "include", "load", "namespace")
}
