package policy

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxCommand   = 64 << 10 // bytes; longer ones cannot be reviewed
	maxSimple    = 200      // simple commands in one text
	maxDepth     = 64       // nesting of syntax
	maxUnwrap    = 5        // wrappers around wrappers
	maxNestingIn = 1000     // opening brackets before parsing, which takes stack for each
)

// simple is one program with its arguments.
type simple struct {
	words []word
	inner bool   // found inside a wrapper: it counts for deny and ask, its wrapper for allow
	maybe bool   // a text that may be run, or may not: a match of it is never sure
	why   string // what is known only when it runs, for a program that cannot be named
}

func (s simple) name() string { return s.words[0].text }

// String shows the words as they could be typed; ? stands for what is known only when it runs.
func (s simple) String() string {
	parts := make([]string, len(s.words))
	for i, w := range s.words {
		parts[i] = "?"
		if w.known {
			parts[i] = quoteWord(w.text)
		}
	}
	return strings.Join(parts, " ")
}

// command is a shell text as far as it can be read without running it.
type command struct {
	simples []simple
	// opaque says why a rule must not allow the whole: part of it is known only when it runs. If empty,
	// it is plain through and through.
	opaque string
	// broken says that it does not parse.
	broken error
	file   *syntax.File // the whole, as it was parsed
}

func (c *command) dim(why string) {
	if c.opaque == "" {
		c.opaque = why
	}
}

// read analyses a shell text. Its error refuses the text in every mode.
func read(text string) (command, error) {
	var c command
	if err := checkBytes(text); err != nil {
		return c, err
	}
	r := reader{into: &c}
	r.script(text, 0)
	r.evaluated()
	if c.opaque == "" {
		c.opaque = agree(text, c.simples)
	}
	if len(c.simples) == 0 {
		c.dim("it runs no program that can be named")
	}
	return c, r.refused
}

// reader fills a command from texts, which nest: sh -c 'env sh -c …'.
type reader struct {
	into     *command
	count    int // simple commands so far
	tries    int // places within them where another program may begin
	refused  error
	guessing bool   // the text at hand may be no command at all
	literals []word // every word
	computes bool   // something evaluates text: arithmetic, a variable's name
	prompts  bool   // something expands text as a prompt
}

func (r *reader) refuse(format string, args ...any) {
	if r.refused == nil {
		r.refused = fmt.Errorf(format, args...)
	}
}

// script reads a text at a depth of wrappers.
func (r *reader) script(text string, depth int) {
	if depth > maxUnwrap {
		r.refuse("the command hides programs behind more than %d others; write them plainly", maxUnwrap)
		return
	}
	file, err := parse(text)
	if depth == 0 && !r.guessing && err == nil {
		r.into.file = file
	}
	if err != nil {
		if !r.guessing {
			r.into.broken = err
		}
		r.into.dim("it does not parse: " + err.Error())
		r.everyWord(text)
	}
	if file != nil {
		r.walk(file, depth, text)
	}
}

// everyWord takes each word of a text that does not parse for the start of a command, so that
// denies still see the names in it. Such a text is never allowed by a rule, so that nothing is
// lost.
func (r *reader) everyWord(text string) {
	var words []word
	for _, s := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\n;|&()<>{}`'\"$!", c) }) {
		words = append(words, word{text: strings.ReplaceAll(s, `\`, ""), known: true})
	}
	for i := range words {
		// 16: more than rules have
		r.into.simples = append(r.into.simples, simple{words: words[i:min(i+16, len(words))], inner: true, maybe: r.guessing})
	}
}

// walk visits every node, so that no program hides in a substitution, a function or a
// here-document.
func (r *reader) walk(root syntax.Node, depth int, text string) {
	level := 0
	syntax.Walk(root, func(n syntax.Node) bool {
		if n == nil {
			level--
			return true
		}
		if level++; level > maxDepth*4 { // about four nodes of the tree make one level that a user sees
			r.refuse("the command is nested too deeply; write it plainly")
		}
		if r.refused != nil {
			level--
			return false
		}
		if why := opaqueNode(n); why != "" {
			r.into.dim(why)
		}
		switch n := n.(type) {
		case *syntax.Stmt:
			r.statement(n, depth)
		case *syntax.Assign:
			r.assigned(n, depth)
		case *syntax.Word:
			if torn(n, text) {
				r.unknown("a comment of it ends in a backslash")
			}
			w := readWord(n)
			r.literals = append(r.literals, w)
			r.computes = r.computes || strings.HasPrefix(w.text, "{") && strings.Contains(w.text, "[") // {a[1]}>file
		case *syntax.CoprocClause:
			r.coproc(n, depth)
		case *syntax.LetClause:
			// The parser takes & and | for arithmetic there, bash for the end of the command.
			if strings.ContainsAny(text[n.Pos().Offset():min(len(text), int(n.End().Offset()))], "&|<>;") {
				r.unknown("let goes on after an operator")
			}
		case *syntax.CmdSubst:
			// Bash takes away backslashes before it reads what is between backquotes, the parser
			// does so only in part.
			if n.Backquotes && strings.Contains(text[n.Pos().Offset():min(len(text), int(n.End().Offset()))], `\`) {
				r.unknown("it has a backslash between backquotes; write $(…)")
			}
		}
		r.prompts = r.prompts || prompts(n)
		r.computes = r.computes || r.prompts || computes(n)
		return true
	})
}

// opaqueNode says why a part of the syntax cannot be judged before it runs. What is not in the
// closed list of plain nodes is opaque.
func opaqueNode(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.File, *syntax.CallExpr, *syntax.Word, *syntax.Lit, *syntax.Comment:
		return ""
	case *syntax.Stmt:
		if n.Background || n.Coprocess || n.Disown {
			return "it leaves a command running in the background"
		}
		return ""
	case *syntax.BinaryCmd:
		return "" // && || | |&
	case *syntax.TimeClause:
		return ""
	case *syntax.SglQuoted:
		if n.Dollar {
			return "it writes text as $'…'"
		}
		return ""
	case *syntax.DblQuoted:
		if n.Dollar {
			return `it writes text as $"…"`
		}
		return ""
	case *syntax.Redirect:
		return opaqueRedirect(n)
	case *syntax.Assign:
		return "it sets a variable"
	case *syntax.CmdSubst, *syntax.ProcSubst:
		return "it substitutes the output of a command"
	case *syntax.ParamExp, *syntax.ArithmExp:
		return "it expands a variable"
	case *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		return "it is more than a list of commands"
	}
	return fmt.Sprintf("it uses %s", strings.TrimPrefix(fmt.Sprintf("%T", n), "*syntax."))
}

// opaqueRedirect lets pass what touches no file: 2>&1 and the null device.
func opaqueRedirect(n *syntax.Redirect) string {
	if n.N != nil && strings.Trim(n.N.Value, "0123456789") != "" {
		return "it sets a variable to a descriptor"
	}
	target := ""
	if n.Word != nil {
		w := readWord(n.Word)
		if !w.plain {
			return "it redirects to a place known only when it runs"
		}
		target = w.text
	}
	switch n.Op {
	case syntax.DplOut, syntax.DplIn:
		if target == "0" || target == "1" || target == "2" {
			return ""
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrAll, syntax.AppAll:
		if target == "/dev/null" {
			return ""
		}
		return "it redirects to or from the file " + target
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return "it gives a program text to read"
	}
	return "it redirects files"
}

func show(n syntax.Node) string {
	var b strings.Builder
	if syntax.NewPrinter().Print(&b, n) != nil {
		return "?"
	}
	return quote(b.String())
}
