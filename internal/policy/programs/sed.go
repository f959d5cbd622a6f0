package programs

import (
	"regexp"
	"strings"
	"sync"
)

// sed reads a script of the commands that print, and the files after it.
func (s *scan) sed() bool {
	script, files := []string{}, []Word{}
	for i := 0; i < len(s.args); i++ {
		w := s.args[i]
		switch {
		case !w.Known:
			return false
		case w.Text == "-e" || w.Text == "--expression":
			if i++; i == len(s.args) || !s.args[i].Known {
				return false
			}
			script = append(script, s.args[i].Text)
		case oneOf(w.Text, "-n", "-E", "-r", "-s", "-u", "-nE", "-En", "-nr", "-rn", "--quiet", "--silent", "--regexp-extended"):
		case strings.HasPrefix(w.Text, "-") && w.Text != "-":
			return false
		default:
			files = append(files, w)
		}
	}
	if len(script) == 0 {
		if len(files) == 0 {
			return false
		}
		script, files = []string{files[0].Text}, files[1:]
	}
	for _, text := range script {
		if !printsOnly(text) {
			return false
		}
	}
	for _, f := range files {
		s.access(Read, f.Text)
	}
	return !s.odd
}

// address finds the lines that a command of sed is for.
var address = sync.OnceValue(func() *regexp.Regexp {
	const one = `(\d+(~\d+)?|\$|/([^/\\\n\[]|\\[^\n]|\[[^]/\n^\\\[][^]/\n\\\[]*\])+/I?)`
	return regexp.MustCompile(`^(` + one + `(\s*,\s*[+~]?` + one + `)?)?\s*!?\s*`)
})

// printsOnly reports a script that neither writes, reads nor runs anything else.
func printsOnly(script string) bool {
	for script = strings.TrimLeft(script, " \t\n;"); script != ""; script = strings.TrimLeft(script, " \t\n;") {
		script = script[len(address().FindString(script)):]
		if script == "" {
			return false
		}
		command := script[0]
		script = script[1:]
		switch {
		case strings.IndexByte("pdq=", command) >= 0:
		case command == 's':
			rest, ok := substitution(script)
			if !ok {
				return false
			}
			script = rest
		default:
			return false
		}
		script = strings.TrimLeft(script, " \t")
		if script != "" && script[0] != ';' && script[0] != '\n' {
			return false
		}
	}
	return true
}

// substitution reads /a/b/g and returns what follows. A bracket may hold the delimiter, so that
// none is read with one.
func substitution(text string) (rest string, ok bool) {
	if text == "" || strings.IndexByte("/|#,:@%!_", text[0]) < 0 {
		return "", false
	}
	at, seen := 1, 0
	for ; at < len(text) && seen < 2; at++ {
		switch text[at] {
		case '\\':
			at++
		case '\n':
			return "", false
		case text[0]:
			seen++
		}
	}
	if seen < 2 || at > len(text) || bracketed(text[:at], text[0]) {
		return "", false
	}
	return strings.TrimLeft(text[at:], "gpiI0123456789"), true
}

// bracketed reports a delimiter that may stand inside of [ ].
func bracketed(text string, delimiter byte) bool {
	depth := 0
	for i := 1; i < len(text)-1; i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			if rest := strings.TrimPrefix(text[i+1:], "^"); strings.HasPrefix(rest, "]") {
				return true // which of the two ends it is read differently
			}
			depth++
		case ']':
			depth = 0
		case delimiter:
			if depth > 0 {
				return true
			}
		}
	}
	return false
}
