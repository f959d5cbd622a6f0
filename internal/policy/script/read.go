package script

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

type reader struct {
	Start
	steps []*Step
}

// state holds the known facts at the start of a statement.
type state struct {
	dir     string
	vars    map[string]Word
	changed bool // an earlier program may have changed files
	nested  bool // it may not run, so it neither changes the folder nor sets a variable
	lost    bool // after a cd to a folder that may not exist
}

// Read converts a lowered text. Its error gives a short reason: "it sets …".
func Read(l *Lowered, at Start) (s Script, err error) {
	if l.Broken != nil {
		return Script{}, fmt.Errorf("it does not parse: %w", l.Broken)
	}
	if err := plainly(l.file, l.Text); err != nil {
		return Script{}, err
	}
	r := &reader{Start: at}
	s.body, err = r.list(l.file.Stmts, &state{dir: at.Dir, vars: map[string]Word{}})
	if s.Steps = r.steps; err == nil && len(r.steps) > maxSteps {
		err = refuse("it has more than %d programs", maxSteps)
	}
	return s, err
}

// plainly rejects text with a known difference between this parser and bash.
func plainly(file *syntax.File, text string) (err error) {
	for line := range strings.SplitSeq(text, "\\\n") {
		if rest := strings.TrimLeft(line, " \t"); len(line) < len(text) && strings.HasPrefix(rest, "#") && !strings.HasPrefix(text, line) {
			return refuse("a comment follows a line that goes on")
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Comment:
			if strings.HasSuffix(n.Text, `\`) || strings.Contains(n.Text, "\\\n") {
				err = refuse("a comment of it ends in a backslash")
			}
		case *syntax.Word:
			for i := 1; i < len(n.Parts); i++ {
				if n.Parts[i-1].End() != n.Parts[i].Pos() {
					err = refuse("it has a word in two lines")
				}
			}
		}
		return true
	})
	return err
}

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

// apart reads statements in a subshell.
func (r *reader) apart(stmts []*syntax.Stmt, st *state) (code, error) {
	c := *st
	c.vars, c.nested, c.lost = maps.Clone(st.vars), false, false
	out, err := r.list(stmts, &c)
	st.changed = st.changed || c.changed
	return out, err
}

func (r *reader) statement(s *syntax.Stmt, st *state) (out code, err error) {
	switch {
	case s.Background || s.Coprocess || s.Disown:
		return nil, refuse("it leaves a command running in the background")
	case len(r.steps) > maxSteps:
		return nil, refuse("it has more than %d programs", maxSteps)
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	switch {
	case ok:
		out, err = r.call(call, s.Redirs, st)
	case len(s.Redirs) == 0:
		out, err = r.compound(s.Cmd, st)
	default:
		group := &Step{Dir: st.dir, Late: st.changed}
		for _, redirect := range s.Redirs {
			if err := r.redirect(group, redirect, st); err != nil || group.Input {
				return nil, cmp.Or(err, refuse("it gives text to more than one program"))
			}
		}
		r.steps = append(r.steps, group)
		st.changed = st.changed || group.writes()
		out, err = r.compound(s.Cmd, st)
		group.fixed = code{"{ "}.add(out, "; }")
		out = code{group}
	}
	if s.Negated {
		out = code{"! "}.add(out)
	}
	return out, err
}

// compound reads nested statements.
func (r *reader) compound(c syntax.Command, st *state) (code, error) {
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
	case *syntax.ForClause:
		return r.eachWord(c, st)
	case *syntax.IfClause:
		return r.branch(c, st)
	case *syntax.WhileClause:
		return r.eachLine(c, st)
	case *syntax.TimeClause:
		if c.PosixFormat || c.Stmt == nil || c.Stmt.Negated {
			return nil, refuse("it takes the time in an unusual way")
		}
		body, err := r.statement(c.Stmt, st)
		return code{"time "}.add(body), err
	}
	return nil, refuse("it uses a part of the shell language that is not judged")
}

// pipe reads a | b, with a subshell for each part.
func (r *reader) pipe(c *syntax.BinaryCmd, st *state) (code, error) {
	_, timed := c.X.Cmd.(*syntax.TimeClause)
	if _, also := c.Y.Cmd.(*syntax.TimeClause); timed || also || c.X.Negated || c.Y.Negated {
		return nil, refuse("it negates or times a part of a pipeline")
	}
	left, err := r.apart([]*syntax.Stmt{c.X}, st)
	if err != nil {
		return nil, err
	}
	right, err := r.apart([]*syntax.Stmt{c.Y}, st)
	return left.add(" "+c.Op.String()+" ", right), err
}

// binary reads a && b and a || b, where the right part may not run.
func (r *reader) binary(c *syntax.BinaryCmd, st *state) (code, error) {
	before := st.nested
	st.nested = st.nested || c.Op == syntax.OrStmt
	left, err := r.statement(c.X, st)
	if err != nil {
		return nil, err
	}
	lost := st.lost
	st.nested, st.lost = true, lost && c.Op == syntax.OrStmt // it runs if the left part succeeded
	right, err := r.statement(c.Y, st)
	st.nested, st.lost = before, lost
	if deeper, ok := c.Y.Cmd.(*syntax.BinaryCmd); ok && deeper.Op != syntax.Pipe && deeper.Op != syntax.PipeAll {
		right = code{"{ "}.add(right, "; }")
	}
	return left.add(" "+c.Op.String()+" ", right), err
}

// eachWord reads a loop over known words and unrolls it.
func (r *reader) eachWord(c *syntax.ForClause, st *state) (code, error) {
	each, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || c.Braces || !each.InPos.IsValid() || !settable(each.Name.Value) {
		return nil, refuse("its loop is not over words")
	}
	words, err := r.words(each.Items, st)
	if err != nil {
		return nil, err
	}
	out := code{"{ :"}
	for _, w := range words {
		if !w.Known {
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

// eachLine reads while read -r NAME. It repeats, so nothing in it may change files.
func (r *reader) eachLine(c *syntax.WhileClause, st *state) (code, error) {
	name, reads := "", len(c.Cond) == 1
	if reads {
		name, reads = strings.CutPrefix(source(c.Cond[0]), "read -r ")
	}
	if c.Until || !reads || !syntax.ValidName(name) || !settable(name) {
		return nil, refuse("its loop is not over lines that it reads with read -r")
	}
	st.vars[name] = Word{code: code{`"$adze_` + name + `"`}, written: "$" + name}
	mark := len(r.steps)
	body, err := r.perhaps(c.Do, st)
	delete(st.vars, name)
	if err == nil && slices.ContainsFunc(r.steps[mark:], r.changes) {
		err = refuse("it changes files in a loop")
	}
	return code{"while read -r adze_" + name + "; do "}.add(body, "; done"), err
}

func (r *reader) branch(c *syntax.IfClause, st *state) (out code, err error) {
	for word := "if "; c != nil && err == nil; c, word = c.Else, "elif " {
		cond, body := code(nil), code(nil)
		if len(c.Cond) > 0 {
			cond, err = r.perhaps(c.Cond, st)
			out = out.add(word, cond, "; then ")
		} else {
			out = out.add("else ")
		}
		if err == nil {
			body, err = r.perhaps(c.Then, st)
			out = out.add(body, "; ")
		}
	}
	return out.add("fi"), err
}

// perhaps reads statements that may not run.
func (r *reader) perhaps(stmts []*syntax.Stmt, st *state) (code, error) {
	before := st.nested
	st.nested = true
	out, err := r.list(stmts, st)
	st.nested = before
	return out, err
}

// call reads one program with its words, settings and files, or assignments without a program.
func (r *reader) call(c *syntax.CallExpr, redirs []*syntax.Redirect, st *state) (code, error) {
	if len(c.Args) == 0 {
		return r.assign(c.Assigns, redirs, st)
	}
	name, ok := program(c.Args[0])
	if !ok {
		return nil, refuse("its program is known only when it runs")
	}
	words, err := r.words(c.Args[1:], st)
	if err != nil {
		return nil, err
	}
	s := &Step{Dir: st.dir, Late: st.changed, Words: append([]Word{Literal(name)}, words...)}
	for _, a := range c.Assigns {
		set, err := r.setting(a, st)
		if err != nil {
			return nil, err
		}
		s.Set = append(s.Set, set)
	}
	for _, redirect := range redirs {
		if redirect.OpPos.Offset() < c.Args[0].Pos().Offset() {
			return nil, refuse("it redirects before it names a program")
		}
		if err := r.redirect(s, redirect, st); err != nil {
			return nil, err
		}
	}
	if name == "cd" {
		err = r.enter(s, st)
	}
	st.changed = st.changed || r.changes(s)
	r.steps = append(r.steps, s)
	return code{s}, err
}

func (s *Step) writes() bool {
	return slices.ContainsFunc(s.Files, func(f File) bool { return f.Write })
}

func (r *reader) changes(s *Step) bool {
	return s.writes() || len(s.Words) > 0 && s.Enter == "" && !(r.Quiet != nil && r.Quiet(s.Words))
}

// program returns the first word if it can only be a program's name.
func program(w *syntax.Word) (string, bool) {
	name := lowered(w, nil)
	if name.Text == "[" && w.Lit() == "[" || w.Lit() == ":" {
		return name.Text, true
	}
	const reserved = "if then elif else fi for while until do done case esac in select function coproc time"
	escaped := strings.ContainsAny(source(w), `\$`) || len(w.Parts) != 1
	odd := strings.Trim(name.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-:") != ""
	return name.Text, name.Known && !escaped && !odd && name.Text != "" && name.Text[0] != '-' && !slices.Contains(strings.Fields(reserved), name.Text)
}

// enter handles cd. A failure ends the whole text, because the rest was judged in that folder.
func (r *reader) enter(s *Step, st *state) error {
	names := slices.DeleteFunc(slices.Clone(s.Words[1:]), func(w Word) bool { return w.Equals("--") })
	if len(s.Words) == 1 && r.Home != "" {
		names = []Word{Literal(r.Home)}
	}
	switch {
	case len(names) != 1 || !names[0].Known || names[0].Text == "" || names[0].Text[0] == '-' || r.Folder == nil || len(s.Set) > 0:
		return refuse("it goes to a folder that is known only when it runs")
	case st.nested:
		return refuse("it may go to a folder or not")
	}
	abs, err := r.Folder(st.dir, names[0].Text)
	if err != nil {
		return refuse("it goes to a folder that cannot be found")
	}
	st.lost = r.Names == nil || st.changed
	if !st.lost {
		_, err := r.Names(abs)
		st.lost = err != nil
	}
	st.dir, s.Enter = abs, names[0].Text
	s.fixed = code{"{ cd -P -- " + quote(abs) + ` && [ "$PWD" = ` + quote(abs) + " ] || exit 1; }"}
	return nil
}

// assign handles x=1 y=2.
func (r *reader) assign(assigns []*syntax.Assign, redirs []*syntax.Redirect, st *state) (out code, err error) {
	if len(redirs) > 0 || len(assigns) == 0 {
		return nil, refuse("it redirects without a program")
	}
	for _, a := range assigns {
		set, err := r.setting(a, st)
		switch {
		case err != nil:
			return nil, err
		case !settable(set.Name) || st.nested:
			return nil, refuse("it sets %s", set.Name)
		}
		own := "adze_" + set.Name // distinct from environment variables
		out = out.add(own+"=", set.Value.code, " ")
		if !set.Value.Known {
			set.Value.code = code{`"$` + own + `"`}
		}
		st.vars[set.Name] = set.Value
	}
	return out, nil
}

// setting reads NAME=value, without splitting and patterns.
func (r *reader) setting(a *syntax.Assign, st *state) (Setting, error) {
	switch {
	case a.Name == nil || a.Naked || a.Append || a.Index != nil || a.Array != nil:
		return Setting{}, refuse("it sets a variable in an unusual way")
	case a.Value == nil:
		return Setting{a.Name.Value, Literal("")}, nil
	}
	w, err := r.single(a.Value, st)
	if strings.HasPrefix(source(a.Value), "~") {
		return Setting{}, refuse("it sets a variable to a home folder")
	}
	return Setting{a.Name.Value, w}, err
}

// settable reports whether a variable has no meaning to the shell itself.
func settable(name string) bool {
	for _, start := range strings.Fields("BASH PS LD_ LC_ SHELL HIST COMP READLINE OPT FUNC PROMPT DIR GLOB GROUP EPOCH") {
		if strings.HasPrefix(name, start) {
			return false
		}
	}
	return !slices.Contains(strings.Fields("IFS PATH PWD OLDPWD HOME ENV CDPATH EUID UID PPID RANDOM SRANDOM SECONDS LINENO REPLY MAPFILE "+
		"POSIXLY_CORRECT PIPESTATUS TIMEFORMAT TMOUT TMPDIR FIGNORE INPUTRC FCEDIT COLUMNS LINES COPROC EXECIGNORE IGNOREEOF HOSTNAME HOSTTYPE MACHTYPE OSTYPE LANG _"), name)
}

func (r *reader) redirect(s *Step, redirect *syntax.Redirect, st *state) error {
	from, reads, both := "", redirect.Op == syntax.RdrIn, redirect.Op == syntax.RdrAll || redirect.Op == syntax.AppAll
	if redirect.N != nil {
		from = redirect.N.Value
	}
	if len(from) > 1 || strings.Trim(from, "012") != "" {
		return refuse("it redirects an unusual descriptor")
	}
	switch redirect.Op {
	case syntax.DplOut:
		target := redirect.Word.Lit()
		if target != "1" && target != "2" {
			return refuse("it redirects to a descriptor in an unusual way")
		}
		s.redirections = s.redirections.add(" " + from + ">&" + target)
		return nil
	case syntax.Hdoc, syntax.WordHdoc:
		if from == "1" || from == "2" {
			return refuse("it gives text to an unusual descriptor")
		}
		w, err := r.given(redirect, st)
		s.Input = true
		s.redirections = s.redirections.add(" <<<", w.code)
		return err
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrAll, syntax.AppAll:
		if from != "" && (reads != (from == "0") || both) {
			return refuse("it redirects an unusual descriptor")
		}
	default:
		return refuse("it redirects in an unusual way")
	}
	w, err := r.single(redirect.Word, st)
	switch {
	case err != nil:
		return err
	case patterned(redirect.Word) || w.Equals(""):
		return refuse("it redirects to a place known only when it runs")
	case strings.HasPrefix(w.Text, "/dev/tcp/") || strings.HasPrefix(w.Text, "/dev/udp/"):
		return refuse("it connects to the network, as bash does by names below /dev/tcp")
	case !slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr"}, w.Text):
		s.Files = append(s.Files, File{w, !reads})
	}
	s.redirections = s.redirections.add(" "+from+redirect.Op.String(), w.code)
	return nil
}

// patterned reports whether bash would expand or split a word.
func patterned(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		switch part := part.(type) {
		case *syntax.Lit:
			return strings.ContainsAny(part.Value, "*?[{\\")
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return false
		}
		return true
	})
}

// given returns a here-document's text without its last line end, which <<< adds.
func (r *reader) given(redirect *syntax.Redirect, st *state) (Word, error) {
	switch {
	case redirect.Op == syntax.WordHdoc:
		return r.single(redirect.Word, st)
	case redirect.Hdoc == nil || redirect.Op != syntax.Hdoc:
		return Word{}, refuse("its text is missing or indented")
	}
	var b builder
	if quotedEnd(redirect.Word) {
		text, known := quoted(redirect.Hdoc.Parts, "")
		if b.text(text); !known {
			return Word{}, refuse("its text cannot be read")
		}
	} else if err := r.quoted(&b, redirect.Hdoc.Parts, st, "$`\\"); err != nil {
		return Word{}, err
	}
	last := &b.segments[len(b.segments)-1]
	last.text = strings.TrimSuffix(last.text, "\n")
	return b.word(), nil
}

// quotedEnd reports whether a here-document's end is quoted, so that its text is literal.
func quotedEnd(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return !ok || strings.Contains(lit.Value, `\`)
	})
}
