package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call takes one program with its words, settings and files; or, without words, what sets variables
// of the text.
func (r *reader) call(c *syntax.CallExpr, redirs []*syntax.Redirect, st *state) (node, error) {
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
	s := &Step{Dirs: slices.Clone(st.dirs), Late: st.changed, Input: st.given, Words: []Word{literal(name)}}
	words, err := r.words(c.Args[1:], st)
	if err != nil {
		return nil, err
	}
	s.Words = append(s.Words, words...)
	s.beside = slices.ContainsFunc(words, func(w Word) bool { return w.Piped })
	s.Input = s.Input || s.beside
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
	if s.beside && (r.Quiet == nil || !r.Quiet(s.Words) || s.writes()) {
		return nil, changesBeside()
	}
	if done, err := r.builtin(s, st); err != nil {
		return nil, err
	} else if !done {
		st.changed = st.changed || r.Quiet == nil || !r.Quiet(s.Words)
	}
	st.changed = st.changed || s.writes()
	r.steps = append(r.steps, s)
	return s, nil
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
		name = part.Value
		if part.Dollar {
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
	odd := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_./+-:", c))
	}
	return name, name != "" && name[0] != '-' && !strings.ContainsFunc(name, odd) && !slices.Contains(reserved(), name)
}

func reserved() []string {
	return strings.Fields("if then elif else fi for while until do done case esac in select function coproc time")
}

// assign takes x=1 y=2.
func (r *reader) assign(assigns []*syntax.Assign, redirs []*syntax.Redirect, st *state) (node, error) {
	if len(redirs) > 0 || len(assigns) == 0 {
		return nil, refuse("it redirects without a program")
	}
	var out sets
	for _, a := range assigns {
		set, err := r.setting(a, st)
		if err != nil {
			return nil, err
		}
		if !settable(set.Name) {
			return nil, refuse("it sets %s", set.Name)
		}
		value := unknown(set.Name)
		value.Alts = set.Value.Alts
		st.vars[set.Name] = value
		out = append(out, Setting{own(set.Name), set.Value})
	}
	return out, nil
}

// setting reads NAME=value, where nothing is split and no pattern counts.
func (r *reader) setting(a *syntax.Assign, st *state) (Setting, error) {
	switch {
	case a.Name == nil || a.Naked || a.Append || a.Index != nil || a.Array != nil || !variable(a.Name.Value):
		return Setting{}, refuse("it sets a variable in an unusual way")
	case a.Value == nil:
		return Setting{a.Name.Value, literal("")}, nil
	}
	w, err := r.single(a.Value, st)
	if text, known := w.Known(); known && strings.HasPrefix(text, "~") {
		return Setting{}, refuse("it sets a variable to a home folder")
	}
	return Setting{a.Name.Value, w}, err
}

// settable reports a variable of which the shell itself makes nothing.
func settable(name string) bool {
	for _, start := range []string{"BASH", "PS", "LD_", "SHELL", "HIST", "COMP", "READLINE", "OPT", "FUNC", "PROMPT", "DIR", "GLOB", "GROUP", "EPOCH"} {
		if strings.HasPrefix(name, start) {
			return false
		}
	}
	return !slices.Contains(strings.Fields("IFS PATH PWD OLDPWD HOME ENV CDPATH EUID UID PPID RANDOM SRANDOM SECONDS LINENO REPLY MAPFILE "+
		"POSIXLY_CORRECT PIPESTATUS TIMEFORMAT TMOUT TMPDIR FIGNORE INPUTRC FCEDIT COLUMNS LINES COPROC EXECIGNORE IGNOREEOF HOSTNAME HOSTTYPE MACHTYPE OSTYPE LANG _"), name) && !strings.HasPrefix(name, "LC_")
}

func (s *Step) writes() bool {
	return slices.ContainsFunc(s.Files, func(f File) bool { return f.Write })
}
