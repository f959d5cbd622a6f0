package script

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// reader goes through a text and collects its steps.
type reader struct {
	Start
	steps []*Step
}

// state is what is known where a statement begins.
type state struct {
	dir     string
	vars    map[string]Word
	changed bool // a program before may have changed files
	given   bool // standard input is a text
	nested  bool // it may run or not, so that it neither goes to a folder nor sets a variable
	lost    bool // a cd to a folder that may not be there came before
}

func (st *state) copy() *state {
	c := *st
	c.vars = maps.Clone(st.vars)
	return &c
}

// list reads statements, one after another.
func (r *reader) list(stmts []*syntax.Stmt, st *state) (out code, err error) {
	for i, s := range stmts {
		if st.lost {
			return nil, refuse("it goes on where a folder may be missing")
		}
		one, err := r.statement(s, st)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, "; ")
		}
		out = out.add(one)
	}
	return out, nil
}

// apart reads statements that have a shell of their own.
func (r *reader) apart(stmts []*syntax.Stmt, st *state) (code, error) {
	c := st.copy()
	c.nested, c.lost = false, false
	out, err := r.list(stmts, c)
	st.changed = st.changed || c.changed
	return out, err
}

// perhaps reads statements that may run or not.
func (r *reader) perhaps(stmts []*syntax.Stmt, st *state) (code, error) {
	before := st.nested
	st.nested = true
	out, err := r.list(stmts, st)
	st.nested = before
	return out, err
}

func (r *reader) statement(s *syntax.Stmt, st *state) (out code, err error) {
	switch {
	case s.Background || s.Coprocess || s.Disown:
		return nil, refuse("it leaves a command running in the background")
	case s.Cmd == nil:
		return nil, refuse("it redirects without a program")
	case len(r.steps) > maxSteps:
		return nil, refuse("it has more than %d programs", maxSteps)
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		out, err = r.call(call, s.Redirs, st)
	} else {
		out, err = r.compound(s.Cmd, s.Redirs, st)
	}
	if s.Negated {
		out = code{"! "}.add(out)
	}
	return out, err
}

// compound takes what holds statements, and the files that all of them get.
func (r *reader) compound(c syntax.Command, redirs []*syntax.Redirect, st *state) (code, error) {
	if len(redirs) == 0 {
		return r.command(c, st)
	}
	group := &Step{Dir: st.dir, Late: st.changed, Language: true}
	if err := r.redirects(group, redirs, st); err != nil {
		return nil, err
	}
	r.steps = append(r.steps, group)
	before := st.given
	st.given = st.given || group.Input
	st.changed = st.changed || group.writes()
	body, err := r.command(c, st)
	st.given = before
	group.fixed = code{"{ "}.add(body, "; }")
	return code{group}, err
}

func (r *reader) command(c syntax.Command, st *state) (code, error) {
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return r.pipe(c, st)
		}
		return r.binary(c, st)
	case *syntax.Block:
		body, err := r.list(c.Stmts, st)
		return code{"{ "}.add(body, "; }"), err
	case *syntax.Subshell:
		body, err := r.apart(c.Stmts, st)
		return code{"( "}.add(body, " )"), err
	case *syntax.IfClause:
		return r.branch(c, st)
	case *syntax.WhileClause:
		return r.eachLine(c, st)
	case *syntax.ForClause:
		return r.eachWord(c, st)
	case *syntax.TimeClause:
		if c.PosixFormat || c.Stmt == nil || c.Stmt.Negated {
			return nil, refuse("it takes the time in an unusual way")
		}
		body, err := r.statement(c.Stmt, st)
		return code{"time "}.add(body), err
	case *syntax.DeclClause:
		return r.export(c, st)
	}
	return nil, refuse("%s", kindOf(c))
}

// kindOf names what is not read.
func kindOf(c syntax.Command) string {
	switch c.(type) {
	case *syntax.ArithmCmd, *syntax.LetClause:
		return "it calculates"
	case *syntax.FuncDecl:
		return "it defines a function"
	case *syntax.CaseClause:
		return "it chooses with case"
	case *syntax.TestClause:
		return "it tests with [["
	case *syntax.CoprocClause:
		return "it starts a coprocess"
	}
	return "it uses a part of the shell language that is not judged"
}

// pipe takes a | b, of which each part has a shell of its own.
func (r *reader) pipe(c *syntax.BinaryCmd, st *state) (code, error) {
	_, timed := c.X.Cmd.(*syntax.TimeClause)
	if _, also := c.Y.Cmd.(*syntax.TimeClause); timed || also || c.X.Negated || c.Y.Negated {
		return nil, refuse("it negates or times a part of a pipeline")
	}
	left, err := r.apart([]*syntax.Stmt{c.X}, st)
	if err != nil {
		return nil, err
	}
	before := st.given
	st.given = false
	right, err := r.apart([]*syntax.Stmt{c.Y}, st)
	st.given = before
	return left.add(" "+c.Op.String()+" ", right), err
}

// binary takes a && b and a || b, of which the right part may not run.
func (r *reader) binary(c *syntax.BinaryCmd, st *state) (code, error) {
	before := st.nested
	st.nested = st.nested || c.Op == syntax.OrStmt
	left, err := r.statement(c.X, st)
	if err != nil {
		return nil, err
	}
	lost := st.lost
	st.nested, st.lost = true, lost && c.Op == syntax.OrStmt // it runs where the left part worked
	right, err := r.statement(c.Y, st)
	st.nested, st.lost = before, lost
	if deeper, ok := c.Y.Cmd.(*syntax.BinaryCmd); ok && deeper.Op != syntax.Pipe && deeper.Op != syntax.PipeAll {
		right = code{"{ "}.add(right, "; }")
	}
	return left.add(" "+c.Op.String()+" ", right), err
}

func (r *reader) branch(c *syntax.IfClause, st *state) (out code, err error) {
	word := "if "
	for ; c != nil; c = c.Else {
		if len(c.Cond) > 0 {
			cond, err := r.perhaps(c.Cond, st)
			if err != nil {
				return nil, err
			}
			out = out.add(word, cond, "; then ")
		} else {
			out = out.add("else ")
		}
		body, err := r.perhaps(c.Then, st)
		if err != nil {
			return nil, err
		}
		out, word = out.add(body, "; "), "elif "
	}
	return out.add("fi"), nil
}

// eachWord takes a loop over known words: what it does is read and written for each of them.
func (r *reader) eachWord(c *syntax.ForClause, st *state) (code, error) {
	each, ok := c.Loop.(*syntax.WordIter)
	switch {
	case !ok || c.Select || c.Braces:
		return nil, refuse("it counts in a loop, or asks")
	case !each.InPos.IsValid() || !settable(each.Name.Value):
		return nil, refuse("its loop is not over words")
	}
	words, err := r.words(each.Items, st)
	if err != nil {
		return nil, err
	}
	out := code{"{ :"}
	for _, w := range words {
		if !w.IsKnown {
			return nil, refuse("its loop is over words that are known only when it runs")
		}
		st.vars[each.Name.Value] = w
		body, err := r.perhaps(c.Do, st)
		if err != nil {
			return nil, err
		}
		out = out.add("; ", body)
	}
	delete(st.vars, each.Name.Value)
	return out.add("; }"), nil
}

// eachLine takes while read -r NAME. As it runs many times, nothing in it may change files.
func (r *reader) eachLine(c *syntax.WhileClause, st *state) (code, error) {
	name, head := "", code(nil)
	if len(c.Cond) == 1 && !c.Cond[0].Negated && len(c.Cond[0].Redirs) == 0 {
		name, head = r.readLine(c.Cond[0].Cmd, st)
	}
	if name == "" || c.Until {
		return nil, refuse("its loop is not over lines that it reads with read -r")
	}
	st.vars[name] = Word{code: code{`"$` + own(name) + `"`}, written: "$" + name}
	mark := len(r.steps)
	body, err := r.perhaps(c.Do, st)
	delete(st.vars, name)
	if err == nil && slices.ContainsFunc(r.steps[mark:], func(s *Step) bool { return s.writes() || !s.Language && !r.quiet(s) }) {
		err = refuse("it changes files in a loop")
	}
	return code{"while "}.add(head, "; do ", body, "; done"), err
}

// readLine is the variable of read -r NAME, with IFS set or not.
func (r *reader) readLine(c syntax.Command, st *state) (name string, head code) {
	call, ok := c.(*syntax.CallExpr)
	if !ok || len(call.Args) != 3 || call.Args[0].Lit() != "read" || call.Args[1].Lit() != "-r" {
		return "", nil
	}
	name = call.Args[2].Lit()
	if !variable(name) || !settable(name) || len(call.Assigns) > 1 {
		return "", nil
	}
	for _, a := range call.Assigns {
		set, err := r.setting(a, st)
		if err != nil || set.Name != "IFS" || !set.Value.IsKnown {
			return "", nil
		}
		head = code{"IFS="}.add(set.Value.code, " ")
	}
	return name, head.add("read -r " + own(name))
}

func (r *reader) quiet(s *Step) bool { return r.Quiet != nil && r.Quiet(s.Words) }
