package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxDepth bounds the nesting of syntax.
const maxDepth = 64

// Lowered is a shell text, read once: the programs, files, variables and words in the order in
// which they stand there. All that is judged of a command is judged on this form.
type Lowered struct {
	Text   string
	Broken error // it does not parse
	Deep   bool  // it is nested more deeply than is read
	Parts  []Part
	// Computes says that something evaluates text: arithmetic, a variable's name. Prompts says that
	// something expands text as a prompt.
	Computes, Prompts bool

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
	Doubtful  bool // it may be a name and no program: the word behind coproc
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
	seen map[*syntax.Word]*Word
	read map[*syntax.Redirect]*Redirect
}

// Lower reads a text. home stands for $HOME in what words spell.
func Lower(text, home string) *Lowered {
	l := &lowering{Lowered: Lowered{Text: text}, vars: map[string]string{"HOME": home, "PWD": "."}, seen: map[*syntax.Word]*Word{}, read: map[*syntax.Redirect]*Redirect{}}
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
		l.Prompts = l.Prompts || prompts(n)
		l.Computes = l.Computes || l.Prompts || computes(n)
		return true
	})
}

func (l *lowering) node(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Stmt:
		if c, ok := n.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			l.Parts = append(l.Parts, Part{Call: &Call{Words: l.words(c.Args), Redirects: l.redirects(n.Redirs)}})
		}
	case *syntax.CoprocClause:
		l.coproc(n)
	case *syntax.WordIter:
		if len(n.Items) > 0 {
			l.vars[n.Name.Value] = l.word(n.Items[0]).Spelled
		}
	case *syntax.Assign:
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
	case *syntax.LetClause:
		// The parser takes & and | for arithmetic there, bash for the end of the command.
		if strings.ContainsAny(l.source(n), "&|<>;") {
			l.doubt("let goes on after an operator")
		}
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
	if l.seen[w] == nil {
		read := lowered(w, l.vars)
		l.seen[w] = &read
	}
	return l.seen[w]
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
	if l.read[r] != nil {
		return l.read[r]
	}
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
	l.read[r] = out
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

// coproc takes the word after coproc for a program too: whether it is a name, the parser and bash
// decide differently.
func (l *lowering) coproc(c *syntax.CoprocClause) {
	if c.Name == nil {
		return
	}
	words := []*Word{l.word(c.Name)}
	first := c.Stmt
	for pair, ok := first.Cmd.(*syntax.BinaryCmd); ok; pair, ok = first.Cmd.(*syntax.BinaryCmd) {
		first = pair.X
	}
	if c, ok := first.Cmd.(*syntax.CallExpr); ok {
		words = append(words, l.words(c.Args)...)
	}
	l.Parts = append(l.Parts, Part{Call: &Call{Words: words, Redirects: l.redirects(c.Stmt.Redirs), Doubtful: true}})
}
