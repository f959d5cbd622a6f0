package script

import (
	"maps"
	"slices"
)

// state is what is known where a statement begins.
type state struct {
	dirs    []string
	vars    map[string]Word
	changed bool     // a program before may have changed files
	given   bool     // standard input is a text
	stayed  []string // where it still is if the cd before failed
}

// settle is the state behind a statement, where a cd may have failed.
func (st *state) settle() {
	for _, d := range st.stayed {
		if !slices.Contains(st.dirs, d) {
			st.dirs = append(st.dirs, d)
		}
	}
	st.stayed = nil
}

func (st *state) copy() *state {
	c := *st
	c.dirs, c.vars = slices.Clone(st.dirs), maps.Clone(st.vars)
	return &c
}

// join is the state behind two ways.
func (st *state) join(other *state) {
	for _, d := range other.dirs {
		if !slices.Contains(st.dirs, d) {
			st.dirs = append(st.dirs, d)
		}
	}
	for name := range st.vars {
		st.vars[name] = merged(name, st.vars[name], other.vars[name])
	}
	for name := range other.vars {
		st.vars[name] = merged(name, st.vars[name], other.vars[name])
	}
	st.changed = st.changed || other.changed
}

func merged(name string, a, b Word) Word {
	if slices.Equal(a.Alts, b.Alts) && len(a.Alts) > 0 {
		return a
	}
	return unknown(name)
}

// unknown is a variable whose value is known only when it runs.
func unknown(name string) Word { return Word{One: true, out: `"$` + own(name) + `"`} }
