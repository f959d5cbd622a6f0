package ignore

// Level is what is in force in one folder: its own rules, those of the folders above it, and the
// excludes of its repository. It never changes and may be shared.
type Level struct {
	prefix string // the folder's path below the top, with a final slash; "" for the top
	chain  *link  // ignore files from this folder outwards
	repo   *link  // where the repository's own files end: outer .gitignore files do not count
	more   []*Rules
	inside bool // of a repository: .gitignore files count
	top    int  // length of the prefix of the repository's folder, which more is relative to
}

// link is one folder that has ignore files.
type link struct {
	outer    *link
	base     int // length of the folder's prefix: what to cut from a path
	git, own *Rules
}

// Files are the ignore files a folder brings along; nil for those that it does not have.
type Files struct {
	Git *Rules // .gitignore
	Own *Rules // .ignore
	// Repo tells that the folder is the top of a repository, so that outer .gitignore files end here.
	Repo bool
	// Excludes are the repository's excludes, highest first; they count only with Repo.
	Excludes []*Rules
}

// Enter returns the level of the folder name inside l, which may bring files along.
func (l *Level) Enter(name string, f Files) *Level {
	next := *l
	next.prefix = l.prefix + name + "/"
	return next.with(f)
}

// with adds a folder's own files to its level.
func (l *Level) with(f Files) *Level {
	if f.Repo {
		l.repo, l.more, l.top, l.inside = l.chain, f.Excludes, len(l.prefix), true
	}
	if !l.inside {
		f.Git = nil
	}
	if f.Git.Len() > 0 || f.Own.Len() > 0 {
		l.chain = &link{outer: l.chain, base: len(l.prefix), git: f.Git, own: f.Own}
	}
	return l
}

// Query asks about the entries of one folder after another without allocating. Not for concurrent
// use.
type Query struct {
	level *Level
	path  []byte
}

// In makes the entries of l's folder the ones asked about.
func (q *Query) In(l *Level) {
	q.level = l
	q.path = append(q.path[:0], l.prefix...)
}

// Ignored reports whether the entry of this name is ignored. dir tells whether it is a folder; a
// link to a folder is not.
func (q *Query) Ignored(name string, dir bool) bool {
	l := q.level
	if l.chain == nil && len(l.more) == 0 {
		return false
	}
	q.path = append(q.path[:len(l.prefix)], name...)
	return l.decide(q.path, q.path[len(l.prefix):], dir) == Ignored
}

func (l *Level) decide(path, name []byte, dir bool) Verdict {
	for at := l.chain; at != nil; at = at.outer {
		if v := at.own.Match(path[at.base:], name, dir); v != None {
			return v
		}
	}
	for at := l.chain; at != l.repo; at = at.outer {
		if v := at.git.Match(path[at.base:], name, dir); v != None {
			return v
		}
	}
	for _, rules := range l.more {
		if v := rules.Match(path[l.top:], name, dir); v != None {
			return v
		}
	}
	return None
}
