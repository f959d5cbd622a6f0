package ignore

// Level holds the rules in force in one folder: its own, those of the folders above and its
// repository's excludes. It is immutable and may be shared.
type Level struct {
	prefix string // path below the top, with a final slash; "" for the top
	chain  *link  // ignore files from this folder outwards
	repo   *link  // the repository's outermost files: outer .gitignore files do not apply
	more   []*Rules
	inside bool // inside a repository: .gitignore files apply
	top    int  // prefix length for the repository's folder; more is relative to it
}

type link struct {
	outer    *link
	base     int // the folder's prefix length, to be cut from a path
	git, own *Rules
}

// Files are a folder's ignore files; nil if absent.
type Files struct {
	Git       *Rules // .gitignore
	DotIgnore *Rules // .ignore
	// Repo is set for the top of a repository, where outer .gitignore files stop applying.
	Repo bool
	// Excludes are the repository's excludes, highest first; ignored unless Repo is set.
	Excludes []*Rules
}

// Enter returns the level for the subfolder name with its ignore files f.
func (l *Level) Enter(name string, f Files) *Level {
	next := *l
	next.prefix = l.prefix + name + "/"
	return next.with(f)
}

func (l *Level) with(f Files) *Level {
	if f.Repo {
		l.repo, l.more, l.top, l.inside = l.chain, f.Excludes, len(l.prefix), true
	}
	if !l.inside {
		f.Git = nil
	}
	if f.Git.Len() > 0 || f.DotIgnore.Len() > 0 {
		l.chain = &link{outer: l.chain, base: len(l.prefix), git: f.Git, own: f.DotIgnore}
	}
	return l
}

// Query decides about entries, folder by folder, without allocating. It is not safe for concurrent
// use.
type Query struct {
	level *Level
	path  []byte
}

// In selects the folder of l for the following calls of Ignored.
func (q *Query) In(l *Level) {
	q.level = l
	q.path = append(q.path[:0], l.prefix...)
}

// Ignored reports whether the entry is ignored. dir is true for a folder, but not for a link to
// one.
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
