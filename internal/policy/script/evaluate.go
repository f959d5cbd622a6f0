package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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

// prompts reports what expands text as a prompt, in which \044 is a dollar.
func prompts(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ParamExp:
		return n.Exp != nil && n.Exp.Op == syntax.OtherParamOps
	case *syntax.Assign:
		return n.Name != nil && slices.Contains([]string{"PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT_COMMAND"}, n.Name.Value)
	}
	return false
}
