package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin takes what changes the shell itself; done is false for every other program.
func (r *reader) builtin(s *Step, st *state) (done bool, err error) {
	name, _ := s.Words[0].Known()
	known, all := texts(s.Words[1:])
	switch name {
	case "cd":
		return true, r.enter(s, known, all, st)
	case "read":
		return true, r.readLine(s, known, all, st)
	case "set":
		for _, w := range known {
			all = all && slices.Contains(strings.Fields("-e -u -x -eu -ex -ux -eux -euo -eo -uo -euxo -o pipefail errexit nounset xtrace +e +u +x"), w)
		}
		if !all || len(known) == 0 || known[len(known)-1] == "-o" {
			return false, refuse("it changes the shell with set")
		}
	case "exit", "break", "continue":
		if !all || len(known) > 1 || len(known) == 1 && strings.Trim(known[0], "0123456789") != "" {
			return false, refuse("it uses %s in an unusual way", name)
		}
	case "wait":
		if len(s.Words) > 1 {
			return false, refuse("it waits in an unusual way")
		}
	default:
		return false, nil
	}
	if len(s.Set) > 0 {
		return false, refuse("it sets a variable for %s", name)
	}
	s.Language = true
	return true, nil
}

// texts are the words where each is known.
func texts(words []Word) (out []string, all bool) {
	for _, w := range words {
		text, ok := w.Known()
		if !ok {
			return out, false
		}
		out = append(out, text)
	}
	return out, true
}

// enter takes cd. Where it fails the whole ends: what follows was judged in that folder.
func (r *reader) enter(s *Step, words []string, all bool, st *state) error {
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 && r.Home != "" && all {
		words = []string{r.Home}
	}
	if !all || len(words) != 1 || words[0] == "" || words[0] == "-" || strings.HasPrefix(words[0], "-") || len(st.dirs) != 1 || r.Folder == nil || len(s.Set) > 0 {
		return refuse("it goes to a folder that is known only when it runs")
	}
	abs, err := r.Folder(st.dirs[0], words[0])
	if err != nil {
		return refuse("it goes to a folder that cannot be found")
	}
	if r.Names == nil || st.changed {
		st.stayed = st.dirs
	} else if _, err := r.Names(abs); err != nil {
		st.stayed = st.dirs
	}
	st.dirs = []string{abs}
	s.Enter, s.Language = words[0], true
	s.fixed = "{ cd -P -- " + quote(abs) + ` && [ "$PWD" = ` + quote(abs) + " ] || exit 1; }"
	return nil
}

// readLine takes read -r with plain names.
func (r *reader) readLine(s *Step, words []string, all bool, st *state) error {
	out, i := "read", 0
	for i < len(words) && strings.HasPrefix(words[i], "-") {
		switch {
		case words[i] == "-r":
			out += " -r"
		case (words[i] == "-d" || words[i] == "-n" || words[i] == "-p") && i+1 < len(words):
			out += " " + words[i] + " " + quote(words[i+1])
			i++
		default:
			return refuse("it reads in an unusual way")
		}
		i++
	}
	if !all || i == len(words) {
		return refuse("it reads in an unusual way")
	}
	for _, name := range words[i:] {
		if !variable(name) || !settable(name) || !r.names[name] {
			return refuse("it reads into %s", name)
		}
		st.vars[name] = unknown(name)
		out += " " + own(name)
	}
	for _, set := range s.Set {
		if set.Name != "IFS" || len(s.Set) > 1 || len(set.Value.Alts) != 1 {
			return refuse("it sets a variable for read")
		}
		out = "IFS=" + quote(set.Value.Alts[0]) + " " + out
	}
	s.Language, s.fixed, s.Set = true, out, nil
	return nil
}

// export takes export NAME=value; who may be set is judged as for one program.
func (r *reader) export(c *syntax.DeclClause, st *state) (node, error) {
	if c.Variant.Value != "export" || len(c.Args) == 0 {
		return nil, refuse("it declares variables")
	}
	s := &Step{Dirs: slices.Clone(st.dirs), Language: true}
	s.fixed = "export"
	for _, a := range c.Args {
		if a.Naked {
			return nil, refuse("it exports a variable")
		}
		set, err := r.setting(a, st)
		if err != nil {
			return nil, err
		}
		if r.names[set.Name] || !settable(set.Name) {
			return nil, refuse("it exports %s", set.Name)
		}
		s.Set = append(s.Set, set)
		s.fixed += " " + set.Name + "=" + set.Value.out
	}
	r.steps = append(r.steps, s)
	return s, nil
}
