package policy

import (
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
)

// maxGiven bounds the lines of input in which programs are looked for.
const maxGiven = 400

// start takes a program with what it is given to read.
func (r *reader) start(c *script.Call, depth int) {
	words := make([]word, len(c.Words))
	for i, w := range c.Words {
		words[i] = wordOf(w)
	}
	from := len(r.into.simples)
	r.add(simple{words: words}, depth)
	for _, started := range r.into.simples[from:] {
		if reader := readsCode(started); reader != "" {
			r.fed(c.Redirects, reader, depth)
			return
		}
	}
	if name := words[0]; name.known && !programs.Is("text", base(name.text)) && !programs.Is("input", base(name.text)) {
		r.given(c.Redirects)
	}
}

// given looks into the text that a program gets which is neither a shell nor an interpreter: many
// have commands of their own to start others (ed, make -f -, sqlite3, psql, gdb), and each line may
// be one.
func (r *reader) given(redirects []*script.Redirect) {
	for _, redirect := range redirects {
		if strings.Count(redirect.Lines, "\n") > maxGiven {
			r.unknown("it gives a program more lines than are read")
			return
		}
		for line := range strings.Lines(redirect.Lines) {
			r.guess(strings.TrimLeft(line, "!:@+-|.\\ \t\n"))
			r.heads(strings.TrimSpace(line))
			r.firstWords(line)
		}
	}
}

// firstWords takes each of the first words of a line, and of what its marks part, for the start of
// a command that may run: platform shell rm x, system("rm x"), 1e rm x.
func (r *reader) firstWords(line string) {
	for _, part := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(";!|&\"'`(){}=,", c) }) {
		var words []word
		for text := range strings.FieldsSeq(part) {
			words = append(words, word{text: strings.TrimLeft(text, `\:.@`), known: true})
		}
		for i := range min(3, len(words)) {
			r.into.simples = append(r.into.simples, simple{words: words[i:], inner: true, maybe: true})
		}
	}
}

// fed reads what a shell or an interpreter is given on its standard input.
func (r *reader) fed(redirects []*script.Redirect, program string, depth int) {
	for _, redirect := range redirects {
		if redirect.Given != nil && redirect.Given.Known {
			r.code(program, wordOf(redirect.Given), depth)
			return
		}
	}
	r.unknown(program + " reads what it runs from its input")
}
