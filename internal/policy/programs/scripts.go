package programs

import (
	"regexp"
	"strings"
	"sync"

	"adze/internal/policy/script"
)

// sed and awk take a program. The few forms below are harmless: every version reads them alike, and
// they only print.

// prints matches an awk program that prints fields, texts and numbers for some lines, selected by a
// pattern with plain characters or by number.
var prints = sync.OnceValue(func() *regexp.Regexp {
	const value = `(\$(\d+|NF)|NF|NR|\d+|"[^"\\\n]*")`
	const lines = `(/[\w .:,=@#-]+/|\$\d+ *(==|!=|~|!~) *("[^"\\\n]*"|/[\w .:,=@#-]+/|\d+)|NR *(==|!=|<=|<) *\d+|!seen\[` + value + `\]\+\+)`
	return regexp.MustCompile(`^ *` + lines + `? *(\{ *print( *,? *` + value + `)* *;? *\})? *$`)
})

// printing matches one sed command that prints, omits or counts lines, or replaces text in them,
// with its line range.
var printing = sync.OnceValue(func() *regexp.Regexp {
	const text = `([^\\\[\n/]|\\[^\n]|\[\^?[^]\\\[\n/^][^]\\\[\n/]*\])`
	const line = `(\d+(~\d+)?|\$|/` + text + `+/I?)`
	replace := ""
	for delimiter := range strings.SplitSeq(`/ \| # , : @`, " ") {
		replace += `|s` + strings.ReplaceAll(`/`+text+`*/([^\\\n/]|\\[^\n])*/`, "/", delimiter) + `[gpiI0-9]*`
	}
	return regexp.MustCompile(`^[ \t\n;]*(` + line + `([ \t]*,[ \t]*[+~]?` + line + `)?)?[ \t]*!?[ \t]*([pdq=]` + replace + `)[ \t]*([;\n]|$)`)
})

// printsOnly reports whether a sed script neither writes, reads nor runs anything else.
func printsOnly(script string) bool {
	for script = strings.TrimRight(script, " \t\n;"); script != ""; {
		command := printing().FindString(script)
		if command == "" {
			return false
		}
		script = script[len(command):]
	}
	return true
}

// script reads the words for sed or awk: options, a program, and files.
func (s *scan) script() {
	program, files, awk := []string{}, []script.Word{}, s.special == "awk"
	for i := 0; i < len(s.args); i++ {
		w := s.args[i]
		switch {
		case !w.Known:
			s.odd = true
		case !awk && oneOf(w.Text, "-e", "--expression") && i+1 < len(s.args):
			i++
			s.odd = s.odd || !s.args[i].Known
			program = append(program, s.args[i].Text)
		case awk && w.Text == "-F":
			i++
		case awk && strings.HasPrefix(w.Text, "-F") && len(files) == 0:
		case !awk && oneOf(w.Text, "-n", "-E", "-r", "-s", "-u", "-nE", "-En", "-nr", "-rn", "--quiet", "--silent", "--regexp-extended"):
		case strings.HasPrefix(w.Text, "-") && w.Text != "-":
			s.odd = true
		default:
			files = append(files, w)
		}
	}
	if len(program) == 0 && len(files) > 0 {
		program, files = []string{files[0].Text}, files[1:]
	}
	s.odd = s.odd || len(program) == 0
	for _, text := range program {
		s.odd = s.odd || awk && (text == "" || !prints().MatchString(text)) || !awk && !printsOnly(text)
	}
	for _, f := range files {
		s.access(Read, f.Text)
	}
}
