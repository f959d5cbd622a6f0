package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxGiven bounds the lines of input in which programs are looked for.
const maxGiven = 400

// statement takes the program of a statement, if it starts one, and what that program is given to
// read.
func (r *reader) statement(s *syntax.Stmt, depth int) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	words := make([]word, len(call.Args))
	for i, w := range call.Args {
		words[i] = readWord(w)
		if !words[i].plain {
			r.into.dim("it has a word that a shell may change: " + show(w))
		}
	}
	r.start(words, s.Redirs, depth)
}

// start takes a program with what it is given to read.
func (r *reader) start(words []word, redirects []*syntax.Redirect, depth int) {
	from := len(r.into.simples)
	r.add(simple{words: words}, depth)
	for _, started := range r.into.simples[from:] {
		if reader := readsCode(started); reader != "" {
			r.fed(redirects, reader, depth)
			return
		}
	}
	if name := words[0]; name.known && !quietWords(base(name.text)) && !printsInput(base(name.text)) {
		r.given(redirects)
	}
}

// given looks into the text that a program gets which is neither a shell nor an interpreter: many
// have commands of their own to start others (ed, make -f -, sqlite3, psql, gdb), and each line may
// be one.
func (r *reader) given(redirects []*syntax.Redirect) {
	for _, redirect := range redirects {
		text := ""
		switch {
		case redirect.Op == syntax.WordHdoc:
			text = readWord(redirect.Word).text
		case redirect.Hdoc != nil:
			text = spelledOut(redirect.Hdoc)
		}
		if strings.Count(text, "\n") > maxGiven {
			r.unknown("it gives a program more lines than are read")
			return
		}
		for line := range strings.Lines(text) {
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

// spelledOut is the text of a here-document, with a space for what is known only when it runs.
func spelledOut(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			b.WriteString(lit.Value)
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// coproc takes the word after coproc for a program too: whether it is a name, the parser and bash
// decide differently.
func (r *reader) coproc(c *syntax.CoprocClause, depth int) {
	if c.Name == nil {
		return
	}
	words := []word{readWord(c.Name)}
	first := c.Stmt
	for pair, ok := first.Cmd.(*syntax.BinaryCmd); ok; pair, ok = first.Cmd.(*syntax.BinaryCmd) {
		first = pair.X
	}
	if call, ok := first.Cmd.(*syntax.CallExpr); ok {
		for _, w := range call.Args {
			words = append(words, readWord(w))
		}
	}
	r.start(words, c.Stmt.Redirs, depth)
}

// fed reads what a shell or an interpreter is given on its standard input.
func (r *reader) fed(redirects []*syntax.Redirect, program string, depth int) {
	for _, redirect := range redirects {
		text := word{}
		switch {
		case redirect.Op == syntax.WordHdoc:
			text = readWord(redirect.Word)
		case redirect.Hdoc != nil:
			text = readHere(redirect)
		}
		if text.known {
			r.code(program, text, depth)
			return
		}
	}
	r.unknown(program + " reads what it runs from its input")
}
