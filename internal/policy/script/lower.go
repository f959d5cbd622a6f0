package script

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxDepth bounds the nesting of syntax.
const maxDepth = 64

// Lowered is a shell text, read once: the programs, files, variables and words in the order in
// which they stand there. All that is judged of a command is judged on this form.
type Lowered struct {
	Text     string
	Broken   error // it does not parse
	Deep     bool  // it is nested more deeply than is read
	Parts    []Part
	Computes bool // something evaluates text: arithmetic, a variable's name

	file *syntax.File // as far as it was parsed
}

// Part is one thing that counts in a text: exactly one of the fields is set.
type Part struct {
	Call     *Call
	Assign   *Assign
	Redirect *Redirect
	Word     *Word
	Doubt    string // why bash may run something that is not found here
}

// Call is one program with its words.
type Call struct {
	Words     []*Word
	Redirects []*Redirect
}

// Assign is NAME=value, or NAME=(values).
type Assign struct {
	Name   string // empty where it has none
	Values []*Word
}

// Redirect is a redirection.
type Redirect struct {
	Target *Word  // of a file; nil of a text
	Writes bool   // the target is a file that it writes
	Given  *Word  // the text that a program is given to read; nil of a file
	Lines  string // that text, with a space for what is known only when it runs
}

// lowering walks through one text.
type lowering struct {
	Lowered
	vars map[string]string // what variables are known to be, in what words spell
}

// Lower reads a text. home stands for $HOME in what words spell.
func Lower(text, home string) *Lowered {
	l := &lowering{Lowered: Lowered{Text: text}, vars: map[string]string{"HOME": home, "PWD": "."}}
	if l.file, l.Broken = parse(text); l.file != nil {
		l.walk()
	}
	return &l.Lowered
}

// walk visits every node, so that no program hides in a substitution, a function or a
// here-document.
func (l *lowering) walk() {
	level := 0
	syntax.Walk(l.file, func(n syntax.Node) bool {
		if n == nil {
			level--
			return true
		}
		if level++; level > maxDepth*4 { // about four nodes of the tree make one level that a user sees
			l.Deep = true
			level--
			return false
		}
		l.node(n)
		l.Computes = l.Computes || computes(n)
		return true
	})
}

func (l *lowering) node(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Stmt:
		if c, ok := n.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			l.Parts = append(l.Parts, Part{Call: &Call{Words: l.words(c.Args), Redirects: l.redirects(n.Redirs)}})
		}
	case *syntax.WordIter:
		if len(n.Items) > 0 {
			l.vars[n.Name.Value] = l.word(n.Items[0]).Spelled
		}
	case *syntax.ParamExp:
		if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
			l.doubt("it may expand a text as a prompt")
		}
	case *syntax.Assign:
		if n.Name != nil && slices.Contains(strings.Fields("PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND"), n.Name.Value) {
			l.doubt("it sets a prompt, which is expanded as text")
		}
		l.Parts = append(l.Parts, Part{Assign: l.assign(n)})
	case *syntax.Redirect:
		l.Parts = append(l.Parts, Part{Redirect: l.redirect(n)})
	case *syntax.Word:
		if torn(n, l.Text) {
			l.doubt("a comment of it ends in a backslash")
		}
		w := l.word(n)
		l.Parts = append(l.Parts, Part{Word: w})
		l.Computes = l.Computes || strings.HasPrefix(w.Text, "{") && strings.Contains(w.Text, "[") // {a[1]}>file
	case *syntax.LetClause, *syntax.CoprocClause:
		l.doubt("it has a let or a coproc, which the parser and bash read differently")
	case *syntax.CmdSubst:
		// Bash takes away backslashes before it reads what is between backquotes, the parser does so
		// only in part.
		if n.Backquotes && strings.Contains(l.source(n), `\`) {
			l.doubt("it has a backslash between backquotes; write $(…)")
		}
	}
}

func (l *lowering) doubt(why string) { l.Parts = append(l.Parts, Part{Doubt: why}) }

// source is a node as it was written.
func (l *lowering) source(n syntax.Node) string {
	return l.Text[min(len(l.Text), int(n.Pos().Offset())):min(len(l.Text), int(n.End().Offset()))]
}

func (l *lowering) words(in []*syntax.Word) (out []*Word) {
	for _, w := range in {
		out = append(out, l.word(w))
	}
	return out
}

func (l *lowering) word(w *syntax.Word) *Word {
	read := lowered(w, l.vars)
	return &read
}

func (l *lowering) assign(a *syntax.Assign) *Assign {
	out := &Assign{}
	if a.Name != nil {
		out.Name = a.Name.Value
	}
	if a.Value != nil && a.Array == nil {
		out.Values = append(out.Values, l.word(a.Value))
		l.vars[out.Name] = out.Values[0].Spelled
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				out.Values = append(out.Values, l.word(e.Value))
			}
		}
	}
	return out
}

func (l *lowering) redirects(in []*syntax.Redirect) (out []*Redirect) {
	for _, r := range in {
		out = append(out, l.redirect(r))
	}
	return out
}

func (l *lowering) redirect(r *syntax.Redirect) *Redirect {
	out := &Redirect{}
	switch {
	case r.Op == syntax.WordHdoc:
		out.Given = l.word(r.Word)
		out.Lines = out.Given.Text
	case r.Hdoc != nil: // backslashes count as in "…" unless its end was quoted
		special := "$`\"\\\n"
		if quotedEnd(r.Word) {
			special = ""
		}
		text, known := quoted(r.Hdoc.Parts, special)
		out.Given, out.Lines = &Word{Text: text, Known: known}, spelledOut(r.Hdoc)
	case r.Word != nil && r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc:
		out.Target = l.word(r.Word)
		out.Writes = r.Op != syntax.RdrIn && r.Op != syntax.DplIn && !(r.Op == syntax.DplOut && descriptor(out.Target.Text))
	}
	return out
}

// descriptor reports what stands behind >& where it names no file.
func descriptor(target string) bool { return strings.Trim(target, "0123456789-") == "" }

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

// computes reports a node that evaluates text.
func computes(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.DeclClause, *syntax.CStyleLoop:
		return true
	case *syntax.ParamExp:
		return n.Index != nil || n.Slice != nil || n.Excl || n.Exp != nil && n.Exp.Op == syntax.OtherParamOps
	case *syntax.Assign:
		return n.Index != nil
	case *syntax.UnaryTest:
		return n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			return true
		}
	case *syntax.Redirect:
		// Bash expands the word after >& a second time when it is a file.
		twice := (n.Op == syntax.DplOut || n.Op == syntax.DplIn) && n.Word != nil && !descriptor(lowered(n.Word, nil).Text)
		return twice || n.N != nil && strings.Contains(n.N.Value, "[")
	}
	return false
}

// maxContinued bounds the comments that end in a backslash, each of which takes one more parse.
const maxContinued = 20

// parse reads a text as bash does. The parser goes on with the next line where a comment ends in a
// backslash, bash does not: there the line end is put back, and the text is read again.
func parse(text string) (*syntax.File, error) {
	for range maxContinued {
		parser := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
		file, err := parser.Parse(strings.NewReader(text), "")
		joined := continued(file)
		if joined < 0 || !strings.HasPrefix(text[joined:], "\\\n") {
			return file, err
		}
		text = text[:joined] + " \n" + text[joined+len("\\\n"):]
	}
	return nil, errors.New("too many of its comments end in a backslash")
}

// continued finds where the first comment ends in a backslash and a line end; -1 when there is
// none.
func continued(file *syntax.File) int {
	at := -1
	if file == nil {
		return at
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && at < 0 && strings.HasSuffix(c.Text, "\\\n") {
			at = int(c.Pos().Offset()) + len("#") + len(c.Text) - len("\\\n")
		}
		return true
	})
	return at
}

// torn reports a word that the parser put together over a comment that it lost: between its parts
// stands more than a line that goes on.
func torn(w *syntax.Word, text string) bool {
	for i := 1; i < len(w.Parts); i++ {
		from, to := w.Parts[i-1].End().Offset(), w.Parts[i].Pos().Offset()
		if from < to && int(to) <= len(text) && strings.ReplaceAll(text[from:to], "\\\n", "") != "" {
			return true
		}
	}
	return false
}
