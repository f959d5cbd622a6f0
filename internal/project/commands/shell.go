package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shell puts arguments into a command as quoted words. It fails if a shell would treat one as more
// than a word: arguments never become shell code.
func (a *arguments) shell(command string) (string, error) {
	if !a.spoken(command) {
		return command, nil
	}
	file, err := parse(command)
	if err != nil {
		return "", fmt.Errorf("adze cannot read it, so that no argument may stand in it: %w", err)
	}
	w := weaver{arguments: a, text: command}
	syntax.Walk(file, w.visit)
	if w.err != nil {
		return "", w.err
	}
	if len(w.places) == 0 {
		return command, nil
	}
	if err := w.runsArguments(); err != nil {
		return "", err
	}
	a.used = true
	return w.woven(func(s string) string { return s }), nil
}

func (a *arguments) spoken(command string) (yes bool) {
	each(command, func(m mark) string {
		_, known := a.meant(m)
		yes = yes || known
		return ""
	})
	return yes || strings.Contains(command, "${")
}

func parse(command string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
}

type weaver struct {
	*arguments
	text    string
	parents []syntax.Node
	places  []spot
	err     error
}

type spot struct {
	start, to int
	quote     string // open quote around it
	words     []string
	together  bool // as one word
}

func (w *weaver) visit(n syntax.Node) bool {
	if n == nil {
		w.parents = w.parents[:len(w.parents)-1]
		return true
	}
	switch x := n.(type) {
	case *syntax.ParamExp:
		w.expansion(x)
	case *syntax.SglQuoted:
		w.single(x)
	}
	w.parents = append(w.parents, n)
	return w.err == nil
}

// expansion handles $1, "${ARGUMENTS}" and similar.
func (w *weaver) expansion(p *syntax.ParamExp) {
	if p.Param == nil {
		return
	}
	from, to := int(p.Pos().Offset()), int(p.End().Offset())
	m, ok := markAt("$"+p.Param.Value, 0)
	if p.Short && ok {
		if more, isMark := markAt(w.text, from); isMark {
			m, to = more, more.end
		}
	}
	words, known := w.meant(m)
	if !ok || !known || m.number >= 0 && !m.index && slices.ContainsFunc(w.parents, isFunction) {
		return
	}
	if p.Flags != nil || p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil || p.NestedParam != nil || p.Names != 0 {
		w.refuse(from, to, "an argument stands plainly, as $1")
		return
	}
	if !w.plain(from) {
		w.refuse(from, to, notAWord)
		return
	}
	s := spot{start: from, to: to, words: words}
	if _, quoted := w.parents[len(w.parents)-1].(*syntax.DblQuoted); quoted {
		s.quote, s.together = `"`, true
	}
	w.places = append(w.places, s)
}

// single handles single quotes: a shell expands nothing in them, but $ARGUMENTS can only be meant
// for adze. $1 may be a column in awk.
func (w *weaver) single(q *syntax.SglQuoted) {
	if q.Dollar {
		return
	}
	base := int(q.Pos().Offset())
	within := w.text[base:int(q.End().Offset())]
	each(within, func(m mark) string {
		words, known := w.meant(m)
		if !known || m.name != "ARGUMENTS" && !m.index {
			return ""
		}
		if !w.plain(base) {
			w.refuse(base+m.from, base+m.end, notAWord)
			return ""
		}
		w.places = append(w.places, spot{start: base + m.from, to: base + m.end, quote: "'", words: words, together: true})
		return ""
	})
}

func isFunction(n syntax.Node) bool { _, is := n.(*syntax.FuncDecl); return is }

func (w *weaver) refuse(from, to int, why string) {
	w.err = cmp.Or(w.err, fmt.Errorf("%s cannot stand where it does: %s", w.text[from:to], why))
}

const notAWord = "a shell reads more than a word there; let it be a word of a command, as \"$1\", and write $(…) for backquotes"

// plain reports whether a shell takes a word at this offset as a word and nothing else, by every
// node around it.
func (w *weaver) plain(at int) bool {
	return !slices.ContainsFunc(w.parents, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.File, *syntax.Stmt, *syntax.CallExpr, *syntax.Word, *syntax.BinaryCmd, *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause,
			*syntax.ForClause, *syntax.WordIter, *syntax.CaseClause, *syntax.CaseItem, *syntax.TimeClause, *syntax.FuncDecl, *syntax.ProcSubst, *syntax.ArrayExpr:
			return false
		case *syntax.DblQuoted:
			return x.Dollar
		case *syntax.CmdSubst:
			return x.Backquotes
		case *syntax.Redirect:
			return x.Hdoc != nil && int(x.Hdoc.Pos().Offset()) <= at && at < int(x.Hdoc.End().Offset())
		case *syntax.Assign:
			return x.Index != nil
		case *syntax.ArrayElem:
			return x.Index != nil
		}
		return true
	})
}

// woven returns the command with its words, converted by as.
func (w *weaver) woven(as func(string) string) string {
	var b strings.Builder
	from := 0
	slices.SortFunc(w.places, func(x, y spot) int { return cmp.Compare(x.start, y.start) })
	for _, s := range w.places {
		words := slices.Clone(s.words)
		if s.together {
			words = []string{strings.Join(words, " ")}
		}
		for n := range words {
			words[n] = quoted(as(words[n]))
		}
		b.WriteString(w.text[from:s.start])
		b.WriteString(s.quote + strings.Join(words, " ") + s.quote)
		from = s.to
	}
	return b.String() + w.text[from:]
}

func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'" }
