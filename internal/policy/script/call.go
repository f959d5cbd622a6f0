package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call takes one program with its words, settings and files; or, without words, what sets variables
// of the text.
func (r *reader) call(c *syntax.CallExpr, redirs []*syntax.Redirect, st *state) (code, error) {
	if len(c.Args) == 0 {
		return r.assign(c.Assigns, redirs, st)
	}
	for _, redirect := range redirs {
		if redirect.OpPos.Offset() < c.Args[0].Pos().Offset() {
			return nil, refuse("it redirects before it names a program")
		}
	}
	name, ok := program(c.Args[0])
	if !ok {
		return nil, refuse("its program is known only when it runs")
	}
	words, err := r.words(c.Args[1:], st)
	if err != nil {
		return nil, err
	}
	s := &Step{Dir: st.dir, Late: st.changed, Input: st.given, Words: append([]Word{Literal(name)}, words...)}
	for _, a := range c.Assigns {
		set, err := r.setting(a, st)
		if err != nil {
			return nil, err
		}
		s.Set = append(s.Set, set)
	}
	if err := r.redirects(s, redirs, st); err != nil {
		return nil, err
	}
	if name == "cd" {
		err = r.enter(s, st)
	}
	st.changed = st.changed || s.writes() || !s.Language && !r.quiet(s)
	r.steps = append(r.steps, s)
	return code{s}, err
}

// program is the first word, where it can mean nothing else than a program's name.
func program(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	name := ""
	switch part := w.Parts[0].(type) {
	case *syntax.Lit:
		name = part.Value
	case *syntax.SglQuoted:
		if name = part.Value; part.Dollar {
			return "", false
		}
	case *syntax.DblQuoted:
		if len(part.Parts) != 1 || part.Dollar {
			return "", false
		}
		if lit, ok := part.Parts[0].(*syntax.Lit); ok {
			name = lit.Value
		}
	}
	if name == "[" || name == ":" {
		return name, true
	}
	const reserved = "if then elif else fi for while until do done case esac in select function coproc time"
	odd := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-:") != ""
	return name, name != "" && name[0] != '-' && !odd && !slices.Contains(strings.Fields(reserved), name)
}

// enter takes cd. Where it fails the whole ends: what follows was judged in that folder.
func (r *reader) enter(s *Step, st *state) error {
	var names []string
	for _, w := range s.Words[1:] {
		names = append(names, w.Text)
	}
	if len(names) > 0 && names[0] == "--" {
		names = names[1:]
	}
	if len(s.Words) == 1 && r.Home != "" {
		names = []string{r.Home}
	}
	switch {
	case len(names) != 1 || names[0] == "" || names[0][0] == '-' || slices.ContainsFunc(s.Words, func(w Word) bool { return !w.IsKnown }),
		r.Folder == nil || len(s.Set) > 0:
		return refuse("it goes to a folder that is known only when it runs")
	case st.nested:
		return refuse("it may go to a folder or not")
	}
	abs, err := r.Folder(st.dir, names[0])
	if err != nil {
		return refuse("it goes to a folder that cannot be found")
	}
	st.lost = r.Names == nil || st.changed
	if !st.lost {
		_, err := r.Names(abs)
		st.lost = err != nil
	}
	st.dir = abs
	s.Enter, s.Language = names[0], true
	s.fixed = code{"{ cd -P -- " + quote(abs) + ` && [ "$PWD" = ` + quote(abs) + " ] || exit 1; }"}
	return nil
}

// assign takes x=1 y=2.
func (r *reader) assign(assigns []*syntax.Assign, redirs []*syntax.Redirect, st *state) (out code, err error) {
	if len(redirs) > 0 || len(assigns) == 0 {
		return nil, refuse("it redirects without a program")
	}
	for _, a := range assigns {
		set, err := r.setting(a, st)
		switch {
		case err != nil:
			return nil, err
		case !settable(set.Name):
			return nil, refuse("it sets %s", set.Name)
		case st.nested:
			return nil, refuse("it may set %s or not", set.Name)
		}
		out = out.add(own(set.Name)+"=", set.Value.code, " ")
		if !set.Value.IsKnown {
			set.Value.code = code{`"$` + own(set.Name) + `"`}
		}
		st.vars[set.Name] = set.Value
	}
	return out, nil
}

// setting reads NAME=value, where nothing is split and no pattern counts.
func (r *reader) setting(a *syntax.Assign, st *state) (Setting, error) {
	switch {
	case a.Name == nil || a.Naked || a.Append || a.Index != nil || a.Array != nil || !variable(a.Name.Value):
		return Setting{}, refuse("it sets a variable in an unusual way")
	case a.Value == nil:
		return Setting{a.Name.Value, Literal("")}, nil
	}
	w, err := r.single(a.Value, st)
	if w.IsKnown && strings.HasPrefix(w.Text, "~") {
		return Setting{}, refuse("it sets a variable to a home folder")
	}
	return Setting{a.Name.Value, w}, err
}

// export takes export NAME=value. Who may be set is judged as for one program.
func (r *reader) export(c *syntax.DeclClause, st *state) (code, error) {
	if c.Variant.Value != "export" || len(c.Args) == 0 || st.nested {
		return nil, refuse("it declares variables")
	}
	s := &Step{Dir: st.dir, Language: true, fixed: code{"export"}}
	for _, a := range c.Args {
		set, err := r.setting(a, st)
		if err != nil {
			return nil, err
		}
		if _, shadowed := st.vars[set.Name]; shadowed || !settable(set.Name) {
			return nil, refuse("it exports %s", set.Name)
		}
		s.Set = append(s.Set, set)
		s.fixed = s.fixed.add(" "+set.Name+"=", set.Value.code)
	}
	r.steps = append(r.steps, s)
	return code{s}, nil
}

// settable reports a variable of which the shell itself makes nothing.
func settable(name string) bool {
	for _, start := range strings.Fields("BASH PS LD_ LC_ SHELL HIST COMP READLINE OPT FUNC PROMPT DIR GLOB GROUP EPOCH") {
		if strings.HasPrefix(name, start) {
			return false
		}
	}
	return !slices.Contains(strings.Fields("IFS PATH PWD OLDPWD HOME ENV CDPATH EUID UID PPID RANDOM SRANDOM SECONDS LINENO REPLY MAPFILE "+
		"POSIXLY_CORRECT PIPESTATUS TIMEFORMAT TMOUT TMPDIR FIGNORE INPUTRC FCEDIT COLUMNS LINES COPROC EXECIGNORE IGNOREEOF HOSTNAME HOSTTYPE MACHTYPE OSTYPE LANG _"), name)
}

func (s *Step) writes() bool {
	return slices.ContainsFunc(s.Files, func(f File) bool { return f.Write })
}
