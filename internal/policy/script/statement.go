package script

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// reader goes through a text and collects its steps.
type reader struct {
	Start
	steps  []*Step
	names  map[string]bool // variables that the text sets
	loops  int
	subs   [][]node // what stands in $(…) and <(…)
	listed bool     // names go from one program to another
	split  bool     // a word of unknown text is split when it runs
	stands bool     // a pattern is looked up by bash
}

func (r *reader) list(stmts []*syntax.Stmt, st *state) ([]node, error) {
	var out []node
	for _, s := range stmts {
		n, err := r.statement(s, st)
		if err != nil {
			return nil, err
		}
		st.settle()
		out = append(out, n)
	}
	return out, nil
}

// inner reads a list that has a shell of its own.
func (r *reader) inner(stmts []*syntax.Stmt, st *state) ([]node, error) {
	c := st.copy()
	out, err := r.list(stmts, c)
	st.changed = st.changed || c.changed
	return out, err
}

func (r *reader) statement(s *syntax.Stmt, st *state) (node, error) {
	switch {
	case s.Background || s.Coprocess || s.Disown:
		return nil, refuse("it leaves a command running in the background")
	case s.Cmd == nil:
		return nil, refuse("it redirects without a program")
	case len(r.steps) > maxSteps:
		return nil, refuse("it has more than %d programs", maxSteps)
	}
	var n node
	var err error
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		n, err = r.call(call, s.Redirs, st)
	} else {
		n, err = r.compound(s.Cmd, s.Redirs, st)
	}
	if s.Negated {
		n = prefixed{"! ", n}
	}
	return n, err
}

// compound takes what holds statements, and the files that all of them get.
func (r *reader) compound(c syntax.Command, redirs []*syntax.Redirect, st *state) (node, error) {
	if len(redirs) == 0 {
		return r.command(c, st)
	}
	group := &Step{Dirs: slices.Clone(st.dirs), Late: st.changed, Language: true}
	if err := r.redirects(group, redirs, st); err != nil {
		return nil, err
	}
	r.steps = append(r.steps, group)
	before, mark := st.given, len(r.steps)
	st.given = st.given || group.Input
	st.changed = st.changed || group.writes()
	n, err := r.command(c, st)
	st.given = before
	if err == nil && group.beside && !r.calm(mark) {
		err = changesBeside()
	}
	return redirected{n, group}, err
}

func (r *reader) command(c syntax.Command, st *state) (node, error) {
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		return r.binary(c, st)
	case *syntax.Block:
		body, err := r.list(c.Stmts, st)
		return group{"{ ", body, "; }"}, err
	case *syntax.Subshell:
		body, err := r.inner(c.Stmts, st)
		return group{"( ", body, " )"}, err
	case *syntax.IfClause:
		return r.branch(c, st)
	case *syntax.WhileClause:
		return r.loop(st, func(st *state) (node, error) { return r.while(c, st) })
	case *syntax.ForClause:
		return r.loop(st, func(st *state) (node, error) { return r.forEach(c, st) })
	case *syntax.TestClause:
		text, err := r.test(c.X, st)
		return raw("[[ " + text + " ]]"), err
	case *syntax.TimeClause:
		return r.timed(c, st)
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
	case *syntax.CoprocClause:
		return "it starts a coprocess"
	}
	return "it uses a part of the shell language that is not judged"
}

// binary takes a && b, a || b and a | b. What stands right of && and || may not run; each part of a
// pipeline has a shell of its own.
func (r *reader) binary(c *syntax.BinaryCmd, st *state) (node, error) {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		_, timed := c.X.Cmd.(*syntax.TimeClause)
		if _, also := c.Y.Cmd.(*syntax.TimeClause); timed || also || c.X.Negated || c.Y.Negated {
			return nil, refuse("it negates or times a part of a pipeline")
		}
		mark := len(r.steps)
		left, err := r.inner([]*syntax.Stmt{c.X}, st)
		if err != nil {
			return nil, err
		}
		named := c.Op == syntax.Pipe && takesNames(c.Y) && r.lists(mark)
		if named {
			left = r.filtered(left)
		}
		piped := st.copy()
		piped.given = false
		right, err := r.inner([]*syntax.Stmt{c.Y}, piped)
		st.changed = st.changed || piped.changed
		if err == nil && named {
			r.steps[len(r.steps)-1].Named = true
		}
		return pair{left, right, c.Op.String()}, err
	}
	one, err := r.statement(c.X, st)
	if err != nil {
		return nil, err
	}
	left := []node{one}
	behind := st.copy()
	if c.Op == syntax.AndStmt { // it runs where the left side worked
		behind.stayed = nil
	} else {
		behind.settle()
	}
	right, err := r.list([]*syntax.Stmt{c.Y}, behind)
	if err != nil {
		return nil, err
	}
	if deeper, ok := c.Y.Cmd.(*syntax.BinaryCmd); ok && deeper.Op != syntax.Pipe && deeper.Op != syntax.PipeAll {
		right = []node{group{"{ ", right, "; }"}}
	}
	st.join(behind)
	return pair{left, right, c.Op.String()}, nil
}

func (r *reader) branch(c *syntax.IfClause, st *state) (node, error) {
	var out choice
	var ways []*state
	for ; c != nil; c = c.Else {
		var arm arm
		var err error
		if len(c.Cond) > 0 {
			if arm.cond, err = r.list(c.Cond, st); err != nil {
				return nil, err
			}
		}
		way := st.copy()
		if arm.body, err = r.list(c.Then, way); err != nil {
			return nil, err
		}
		ways = append(ways, way)
		out = append(out, arm)
	}
	for _, way := range ways {
		st.join(way)
	}
	return out, nil
}

// loop reads a body as it is when it was run before: what it sets and changes is so from its start
// on.
func (r *reader) loop(st *state, read func(*state) (node, error)) (node, error) {
	if r.loops++; r.loops > maxLoops {
		return nil, refuse("its loops are nested too deeply")
	}
	defer func() { r.loops-- }()
	mark, subs, trial := len(r.steps), len(r.subs), st.copy()
	if _, err := read(trial); err != nil {
		return nil, err
	}
	r.steps, r.subs = r.steps[:mark], r.subs[:subs]
	if !slices.Equal(trial.dirs, st.dirs) {
		return nil, refuse("it changes the folder in a loop")
	}
	for name, w := range trial.vars {
		if before, ok := st.vars[name]; !ok || !slices.Equal(before.Alts, w.Alts) {
			st.vars[name] = unknown(name)
		}
	}
	st.changed = st.changed || trial.changed
	n, err := read(st)
	return n, err
}

func (r *reader) while(c *syntax.WhileClause, st *state) (node, error) {
	cond, err := r.list(c.Cond, st)
	if err != nil {
		return nil, err
	}
	behind := st.copy()
	body, err := r.list(c.Do, behind)
	st.join(behind)
	word := "while "
	if c.Until {
		word = "until "
	}
	return repeat{word, cond, body}, err
}

func (r *reader) forEach(c *syntax.ForClause, st *state) (node, error) {
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
	value := unknown(each.Name.Value)
	for _, w := range words {
		if len(w.Alts) == 0 || !w.One {
			value.Alts = nil
			break
		}
		value.Alts = append(value.Alts, w.Alts...)
	}
	behind := st.copy()
	behind.vars[each.Name.Value] = value
	body, err := r.list(c.Do, behind)
	behind.vars[each.Name.Value] = unknown(each.Name.Value)
	st.join(behind)
	return forIn{own(each.Name.Value), words, body}, err
}

// timed takes time before a program, in the one form that is read alike everywhere.
func (r *reader) timed(c *syntax.TimeClause, st *state) (node, error) {
	if c.PosixFormat || c.Stmt == nil || c.Stmt.Negated {
		return nil, refuse("it takes the time in an unusual way")
	}
	n, err := r.statement(c.Stmt, st)
	return prefixed{"time ", n}, err
}
