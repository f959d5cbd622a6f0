package script

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const maxDepth = 64

// Lowered is a parsed shell text: its programs, files, variables and words in order. All judgement
// of a command uses this form.
type Lowered struct {
	Text     string
	Broken   error // a parse error
	Deep     bool  // it is nested too deeply
	Parts    []Part
	Computes bool // something evaluates text: arithmetic, a variable's name

	file *syntax.File // as far as it was parsed
}

// A Part is one relevant element: exactly one field is set.
type Part struct {
	Call        *Call
	Assign      *Assign
	Redirect    *Redirect
	Word        *Word
	Uncertainty string // why bash may run something not found here
}

// A Call is one program with its words.
type Call struct {
	Words     []*Word
	Redirects []*Redirect
}

// Assign is NAME=value, or NAME=(values).
type Assign struct {
	Name   string // may be empty
	Values []*Word
}

// A Redirect is a redirection.
type Redirect struct {
	Target    *Word  // a file; nil for a text
	Writes    bool   // the target file is written
	InputText *Word  // the program's input text; nil for a file
	Lines     string // that text, with a space for values known only at run time
}

type lowering struct {
	Lowered
	vars map[string]string // known variable values, for Spelled
}

// Lower parses a text. home replaces $HOME in Spelled.
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
		if level++; level > maxDepth*4 { // about four tree nodes make one level visible to a user
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
			l.noteUncertainty("it may expand a text as a prompt")
		}
	case *syntax.Assign:
		if n.Name != nil && slices.Contains(strings.Fields("PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND"), n.Name.Value) {
			l.noteUncertainty("it sets a prompt, which is expanded as text")
		}
		l.Parts = append(l.Parts, Part{Assign: l.assign(n)})
	case *syntax.Redirect:
		l.Parts = append(l.Parts, Part{Redirect: l.redirect(n)})
	case *syntax.Word:
		if torn(n, l.Text) {
			l.noteUncertainty("a comment of it ends in a backslash")
		}
		w := l.word(n)
		l.Parts = append(l.Parts, Part{Word: w})
		l.Computes = l.Computes || strings.HasPrefix(w.Text, "{") && strings.Contains(w.Text, "[") // {a[1]}>file
	case *syntax.LetClause, *syntax.CoprocClause:
		l.noteUncertainty("it has a let or a coproc, which the parser and bash read differently")
	case *syntax.CmdSubst:
		// Bash removes backslashes before it reads text between backquotes; the parser does so only
		// in part.
		if n.Backquotes && strings.Contains(l.source(n), `\`) {
			l.noteUncertainty("it has a backslash between backquotes; write $(…)")
		}
	}
}

func (l *lowering) noteUncertainty(why string) { l.Parts = append(l.Parts, Part{Uncertainty: why}) }

// source returns a node's original text.
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
		out.InputText = l.word(r.Word)
		out.Lines = out.InputText.Text
	case r.Hdoc != nil: // backslashes work as in "…" unless its end was quoted
		special := "$`\"\\\n"
		if quotedEnd(r.Word) {
			special = ""
		}
		text, known := quoted(r.Hdoc.Parts, special)
		out.InputText, out.Lines = &Word{Text: text, Known: known}, spelledOut(r.Hdoc)
	case r.Word != nil && r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc:
		out.Target = l.word(r.Word)
		out.Writes = r.Op != syntax.RdrIn && r.Op != syntax.DplIn && !(r.Op == syntax.DplOut && descriptor(out.Target.Text))
	}
	return out
}

// descriptor reports whether the word after >& names no file.
func descriptor(target string) bool { return strings.Trim(target, "0123456789-") == "" }

// spelledOut returns a here-document's text, with a space for values known only at run time.
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

// computes reports whether a node evaluates text.
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
		// Bash expands the word after >& a second time if it is a file.
		twice := (n.Op == syntax.DplOut || n.Op == syntax.DplIn) && n.Word != nil && !descriptor(lowered(n.Word, nil).Text)
		return twice || n.N != nil && strings.Contains(n.N.Value, "[")
	}
	return false
}

// Limit for comments that end in a backslash, each of which takes one more parse.
const maxContinued = 20

// parse parses a text like bash. If a comment ends in a backslash, the parser continues it on the
// next line, and bash does not: parse restores the line end and tries again.
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

// continued returns the position where the first comment ends in a backslash and a line end, or -1.
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

// torn reports whether the parser joined a word across a lost comment: there is more than a
// continued line between its parts.
func torn(w *syntax.Word, text string) bool {
	for i := 1; i < len(w.Parts); i++ {
		from, to := w.Parts[i-1].End().Offset(), w.Parts[i].Pos().Offset()
		if from < to && int(to) <= len(text) && strings.ReplaceAll(text[from:to], "\\\n", "") != "" {
			return true
		}
	}
	return false
}
