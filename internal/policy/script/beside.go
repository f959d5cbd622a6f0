package script

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func changesBeside() error { return refuse("one part of it changes files while another one runs") }

// later holds the place of a list: how it is written is known only when the whole was judged. No
// text has such a mark.
func (r *reader) later(body []node) string {
	r.subs = append(r.subs, body)
	return fmt.Sprintf("\x00%d\x00", len(r.subs)-1)
}

// pipe reads <(…), whose programs run beside the one that reads what they print, so that none of
// both may change files.
func (r *reader) pipe(sub *syntax.ProcSubst, st *state) (string, error) {
	if sub.Op != syntax.CmdIn || len(sub.Stmts) == 0 {
		return "", refuse("it contains %s", source(sub))
	}
	mark, given := len(r.steps), st.given
	body, err := r.inner(sub.Stmts, st)
	st.given = given
	if err == nil && !r.calm(mark) {
		err = changesBeside()
	}
	return "<(" + r.later(body) + ")", err
}

// piped is the <(…) that a program is given to read.
func piped(redirect *syntax.Redirect) (*syntax.ProcSubst, bool) {
	if redirect.Op != syntax.RdrIn || redirect.Word == nil || len(redirect.Word.Parts) != 1 {
		return nil, false
	}
	sub, ok := redirect.Word.Parts[0].(*syntax.ProcSubst)
	return sub, ok
}

// calm reports that no program since then changes files.
func (r *reader) calm(since int) bool {
	return !slices.ContainsFunc(r.steps[since:], func(s *Step) bool {
		return s.writes() || !s.Language && (r.Quiet == nil || !r.Quiet(s.Words))
	})
}

// lists reports that the programs since then are a pipeline that prints names: one that lists them,
// and others that choose among its lines.
func (r *reader) lists(since int) bool {
	steps := r.steps[since:]
	bare := func(s *Step) bool { return len(s.Words) == 0 } // the files of a group
	if r.Lists == nil || len(steps) == 0 || slices.ContainsFunc(steps, bare) || !r.Lists(steps[0].Words) {
		return false
	}
	for i, s := range steps {
		name, _ := s.Words[0].Known()
		if len(s.Set) > 0 || len(s.Files) > 0 || i > 0 && !slices.Contains([]string{"grep", "head", "tail", "sort", "uniq"}, name) {
			return false
		}
	}
	return true
}

// pipeline reports programs that are joined by | alone.
func pipeline(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return !s.Negated
	case *syntax.BinaryCmd:
		return c.Op == syntax.Pipe && pipeline(c.X) && pipeline(c.Y)
	}
	return false
}

// takesNames reports xargs.
func takesNames(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && !s.Negated && len(call.Args) > 0 && call.Args[0].Lit() == "xargs"
}

func (r *reader) filtered(body []node) []node {
	r.listed = true
	return []node{pair{body, []node{raw("adze_names")}, "|"}}
}

// filter is the function that lets pass plain names below the folder, and none that a program,
// xargs or the shell could take for more: no options, no blanks, no way up or out, none known for
// its secrets.
func filter(secret []string) string {
	out := "''|[-@+]*|/*|..|../*|*/../*|*/..|*[!A-Za-z0-9._/+@,=:-]*"
	for _, pattern := range secret {
		out += "|" + pattern
		if !strings.HasPrefix(pattern, "*") {
			out += "|*/" + pattern
		}
	}
	return `adze_names() { local LC_ALL=C n; while IFS= read -r n || [ -n "$n" ]; do case $n in ` + out +
		`) printf '%s\n' "left out, name it by itself: $n" >&2;; *) printf '%s\n' "$n";; esac; done; }; `
}
