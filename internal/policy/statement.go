package policy

import "mvdan.cc/sh/v3/syntax"

// statement takes the program of a statement, if it starts one, and what that program is given to read.
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
}

// coproc takes the word after coproc for a program too: whether it is a name, the parser and bash decide differently.
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
