package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bash reads some words once more while it runs: the subscript in a variable's name, what
// arithmetic is made of, prompts. A command substitution in such a word runs, however it was
// quoted. Which words end up there cannot be told (x='a[$(id)]'; echo $((x))), so as soon as a text
// evaluates anything, all its words count.

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
		twice := (n.Op == syntax.DplOut || n.Op == syntax.DplIn) && n.Word != nil && strings.Trim(readWord(n.Word).text, "0123456789-") != ""
		return twice || n.N != nil && strings.Contains(n.N.Value, "[")
	}
	return false
}

// prompts reports what expands text as a prompt, in which \044 is a dollar.
func prompts(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ParamExp:
		return n.Exp != nil && n.Exp.Op == syntax.OtherParamOps
	case *syntax.Assign:
		return n.Name != nil && oneOf(n.Name.Value, "PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND")
	}
	return false
}

// evaluates reports a builtin that takes the names of variables, or arithmetic.
func evaluates(s simple) bool {
	if oneOf(s.name(), "printf test [") {
		return !printsOnly(s)
	}
	return oneOf(s.name(), "read let declare typeset local export readonly unset mapfile readarray wait getopts eval exec builtin command set shopt")
}

// evaluated looks for command substitutions in the words of a text that evaluates any of them.
func (r *reader) evaluated() {
	if !r.computes || r.refused != nil {
		return
	}
	all := strings.Join(texts(r.literals), " ")
	for _, w := range r.literals {
		text := w.text
		// Only a piece of a substitution, or one that is written in numbers as a prompt may be,
		// cannot be read.
		piece := !w.known && (strings.Contains(text, "$(") || strings.Contains(text, "`")) || strings.HasSuffix(text, "$") && strings.Contains(all, "(") || strings.Count(text, "`")%2 == 1
		if piece || r.prompts && strings.Contains(text, `\`) {
			r.unknown("a word of it may be evaluated: " + quote(text))
		}
		r.substitutions(text)
	}
}

// substitutions takes the programs in a text that may be expanded.
func (r *reader) substitutions(text string) {
	for i := range len(text) {
		if text[i] != '`' && !strings.HasPrefix(text[i:], "$(") {
			continue
		}
		if file, err := parse(": " + text[i:]); file == nil || err != nil {
			r.unknown("a word of it may be evaluated: " + quote(text))
			return
		}
		r.nested(": "+text[i:], 1)
		if text[i] == '`' {
			return // the next one closes it
		}
	}
}

// assigned looks at what a variable gets. Many programs run what a variable names: PAGER,
// GIT_SSH_COMMAND, CC.
func (r *reader) assigned(a *syntax.Assign, depth int) {
	values := []*syntax.Word{a.Value}
	if a.Array != nil {
		values = values[:0]
		for _, e := range a.Array.Elems {
			values = append(values, e.Value)
		}
	}
	for _, v := range values {
		if v == nil || depth > maxUnwrap {
			continue
		}
		w := readWord(v)
		if w.known {
			r.guess(w.text)
		} else if a.Name != nil && runsValue(a.Name.Value) {
			r.unknown("what " + a.Name.Value + " makes programs run is known only then")
		}
	}
}

// runsValue lists variables whose value is a program, a command line or a file of them.
func runsValue(name string) bool {
	return oneOf(name, "BASH_ENV ENV PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 PAGER MANPAGER GIT_PAGER EDITOR VISUAL FCEDIT GIT_EDITOR SUDO_EDITOR SHELL "+
		"BROWSER LESSOPEN LESSCLOSE RSYNC_RSH CVS_RSH MAKEFLAGS PERL5OPT RUBYOPT NODE_OPTIONS PYTHONSTARTUP TAR_OPTIONS RUSTC_WRAPPER BASH_ALIASES BASH_CMDS IFS") ||
		strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_AUTHOR_") && !strings.HasPrefix(name, "GIT_COMMITTER_")
}
