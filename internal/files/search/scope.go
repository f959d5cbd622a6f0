package search

import (
	"sync/atomic"

	"adze/internal/files/search/ignore"
)

// scope decides which entries in a tree are included. It does not change during a walk; workers
// share it.
type scope struct {
	want []*glob // a path must match all of them
	drop *glob   // matching paths are left out with everything below; may be nil
	root *ignore.Level
	find ignore.Finder
	dir  string // absolute path of the tree
	// ignored counts matching files and folders excluded by ignore rules.
	ignored atomic.Int64
}

type dirState struct {
	path  string // relative to the root, with a final slash; "" for the root
	want  []placeSet
	drop  placeSet
	level *ignore.Level
}

// everything is the default pattern: all files that are not hidden.
var everything = []string{"**"}

func (s *scope) start() dirState {
	d := dirState{level: s.root, want: make([]placeSet, len(s.want))}
	for i, g := range s.want {
		d.want[i] = g.root()
	}
	if s.drop != nil {
		d.drop = s.drop.root()
	}
	return d
}

// file reports whether a file or link in d is included. It sets q to d's level.
func (s *scope) file(d *dirState, q *ignore.Query, name string) bool {
	for i, g := range s.want {
		if !g.accepts(d.want[i], name) {
			return false
		}
	}
	if s.drop != nil && s.drop.accepts(d.drop, name) {
		return false
	}
	return !s.ignores(q, name, false)
}

func (s *scope) ignores(q *ignore.Query, name string, dir bool) bool {
	if !q.Ignored(name, dir) {
		return false
	}
	s.ignored.Add(1)
	return true
}

// enter returns a subfolder's state, without the folder's own rules; false if nothing in it is
// included.
func (s *scope) enter(d *dirState, q *ignore.Query, name string) (dirState, bool) {
	next := dirState{path: d.path + name + "/", level: d.level, want: make([]placeSet, len(s.want))}
	for i, g := range s.want {
		r, _, open := g.enter(d.want[i], name)
		if !open {
			return dirState{}, false
		}
		next.want[i] = r
	}
	if s.drop != nil {
		r, matches, _ := s.drop.enter(d.drop, name)
		if matches {
			return dirState{}, false
		}
		next.drop = r
	}
	return next, !s.ignores(q, name, true)
}

// rules reads the ignore files among a folder's entries and returns the folder's level. The root's
// are read before the walk.
func (s *scope) rules(at folder, d *dirState, name string, entries []entry) *ignore.Level {
	if d.path == "" {
		return s.root
	}
	var f ignore.Files
	for _, e := range entries {
		switch {
		case e.name == ignore.GitDir && (e.kind == kindFolder || e.kind == kindFile), e.name == ignore.JJDir && e.kind == kindFolder:
			f.Repo, f.Excludes = true, s.find.Excludes(s.dir+"/"+d.path)
		case e.kind != kindFile:
		case e.name == ignore.GitFile:
			f.Git = readRules(at, e.name)
		case e.name == ignore.OwnFile:
			f.DotIgnore = readRules(at, e.name)
		}
	}
	return d.level.Enter(name, f)
}

// rulesByName is rules for a folder whose entries are only partly known: it opens the ignore files
// by name.
func (s *scope) rulesByName(at folder, d *dirState, name string) *ignore.Level {
	var entries []entry
	for _, known := range [...]string{ignore.GitDir, ignore.JJDir, ignore.GitFile, ignore.OwnFile} {
		if st, err := at.stat(known); err == nil {
			entries = append(entries, entry{name: known, kind: st.kind})
		}
	}
	return s.rules(at, d, name, entries)
}

// readRules parses an ignore file; an unreadable one has no rules.
func readRules(at folder, name string) *ignore.Rules {
	var f handle
	if at.openFile(name, &f) != nil {
		return nil
	}
	defer f.Close()
	text := make([]byte, 0, 4<<10)
	for len(text) < ignore.MaxFile {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err != nil {
			break
		}
	}
	return ignore.Parse(text)
}
