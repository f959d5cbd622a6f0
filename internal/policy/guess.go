package policy

import (
	"strings"

	"adze/internal/policy/programs"
)

const (
	// maxTries bounds the places that are taken for the start of a program although they may be
	// none.
	maxTries = 5000
	// maxWords are the words of one command in which other programs are looked for.
	maxWords = 1000
)

// code reads what a shell or an interpreter runs.
func (r *reader) code(program string, w word, depth int) {
	switch {
	case isShell(program) || oneOf(program, "at batch . source parallel sem"):
		r.text(w, depth)
	case !w.known:
		r.unknown(program + " runs code that is known only when it runs")
	case oneOf(program, "sed gsed"):
		if runsInSed().MatchString(w.text) {
			r.unknown("a sed script of it can start programs")
		}
	case oneOf(program, "make gmake"):
		for line := range strings.Lines(w.text) {
			r.firstWords(line)
			r.text(word{text: strings.TrimLeft(line, "\t @-+"), known: true}, depth)
		}
	case startsInCode().MatchString(w.text):
		r.unknown(program + " runs code that can start programs")
	}
}

// readsCode names the program where a command reads what it runs from its standard input; "" where
// it does not.
func readsCode(s simple) string {
	if !s.words[0].known || s.maybe {
		return ""
	}
	name := base(s.name())
	_, interprets := programs.CodeOption(name, "")
	switch {
	case oneOf(name, ". source"):
		if len(s.words) > 1 && (!s.words[1].known || strings.HasPrefix(s.words[1].text, "/dev/") || strings.HasPrefix(s.words[1].text, "/proc/")) {
			return name
		}
		return ""
	case oneOf(name, "at batch"), oneOf(name, "make gmake sed gsed awk gawk mawk nawk") && fromInput(s.words[1:]):
		return name
	case oneOf(name, "parallel sem"):
		interprets = true
	case strings.HasPrefix(name, "awk"), strings.HasSuffix(name, "awk"):
		return ""
	}
	if !isShell(name) && !interprets {
		return ""
	}
	for _, w := range s.words[1:] {
		switch {
		case !w.known, oneOf(w.text, "- -s -is -si"), strings.HasPrefix(w.text, "/dev/"), strings.HasPrefix(w.text, "/proc/"):
			return name
		case !strings.HasPrefix(w.text, "-") || oneOf(w.text, "--version --help -V -v") || !strings.HasPrefix(w.text, "--") && strings.ContainsAny(w.text, "cemrpE"):
			return "" // a file, or code among the words
		}
	}
	return name
}

// fromInput reports -f - in its forms: a program that takes its code from its input.
func fromInput(args []word) bool {
	for i, a := range args {
		for _, option := range []string{"-f", "--file", "--makefile"} {
			value, attached := strings.CutPrefix(a.text, option)
			if value = strings.TrimPrefix(value, "="); value == "" && i+1 < len(args) {
				value = args[i+1].text
			}
			if attached && oneOf(value, "- /dev/stdin /dev/fd/0 /proc/self/fd/0") {
				return true
			}
		}
	}
	return false
}

// guess reads a text that some program may run: what it matches is never sure.
func (r *reader) guess(text string) {
	if r.guessing || r.into.refused != nil || strings.TrimSpace(text) == "" {
		return
	}
	r.guessing = true
	r.nested(text, 1)
	r.guessing = false
}

// guesses looks into the words of a program of which nobody here knows what it does with them, and
// into code.
func (r *reader) guesses(program string, args []word) {
	code := codeWords(program, args)
	for i, a := range args {
		text, isCode := code[i]
		switch {
		case isCode:
			r.code(program, text, 0)
		case oneOf(program, "sed gsed") && runsInSed().MatchString(strings.TrimPrefix(strings.TrimPrefix(a.text, "-e"), "--expression=")):
			r.unknown("a sed script of it can start programs")
		case !programs.Is("text", program), program == "cargo" && (strings.HasPrefix(a.text, "--config=") || i > 0 && args[i-1].text == "--config"):
			r.heads(a.text)
		}
	}
}

// codeWords finds the words that are code, or hold it behind an option.
func codeWords(program string, args []word) map[int]word {
	if _, interprets := programs.CodeOption(program, ""); !interprets {
		return nil
	}
	code := func(option string) bool { code, _ := programs.CodeOption(program, option); return code }
	out := map[int]word{}
	for i, a := range args {
		before := ""
		if i > 0 {
			before = args[i-1].text
		}
		switch {
		case programs.Is("awk", program): //: the first word that is no option or its value
			if !(a.known && strings.HasPrefix(a.text, "-")) && !oneOf(before, "-v -F -f --assign --field-separator --file") {
				out[i] = a
				return out
			}
		case code(before):
			out[i] = a
		case len(a.text) > 2 && a.text[0] == '-' && code(a.text[:2]):
			out[i] = word{text: a.text[2:], known: a.known}
		case strings.HasPrefix(a.text, "--eval="), strings.HasPrefix(a.text, "--print="), strings.HasPrefix(a.text, "--require="):
			out[i] = a
		}
	}
	return out
}

// heads tries a word as a command line: whole where it has several words, and after the characters
// that programs put between a name and what it stands for.
func (r *reader) heads(text string) {
	if strings.ContainsAny(text, " \t\n;|&`$(") {
		r.guess(strings.TrimLeft(text, "!:@+-|\\ "))
		if _, after, ok := strings.Cut(strings.TrimLeft(text, "\\. "), " "); ok {
			r.guess(after)
		}
	}
	const marks = "=:!,"
	for i, tried := 0, 0; i+1 < len(text) && tried < 4; i++ {
		if strings.IndexByte(marks, text[i]) >= 0 && strings.IndexByte(marks, text[i+1]) < 0 && !strings.HasPrefix(text[i+1:], "//") {
			r.guess(strings.TrimLeft(text[i+1:], "=:! \"'"))
			tried++
		}
	}
}
