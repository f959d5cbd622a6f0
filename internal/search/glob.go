package search

import (
	"container/heap"
	"context"
	"sort"
	"time"
)

// GlobQuery is which files to find.
type GlobQuery struct {
	// Pattern is relative to the tree: "**" crosses folders, "{a,b}" is either. A hidden name is only
	// matched by an element that begins with a dot.
	Pattern string
	Exclude []string // patterns of what to leave out; without a slash they match at any depth
	Limit   int      // files to return; must be positive
}

// GlobFile is one file or link that was found.
type GlobFile struct {
	Path     string // from the root of the tree
	Size     int64
	Modified time.Time
	Link     bool
}

// GlobResult is what was found, newest first, then by path.
type GlobResult struct {
	Files      []GlobFile
	Total      int // exact, whatever the limit
	Withheld   int // files left out because Tree.Withhold said so
	Unreadable Unreadable
}

// Glob finds files by their path.
func (t Tree) Glob(ctx context.Context, q GlobQuery) (GlobResult, error) {
	if q.Limit <= 0 {
		return GlobResult{}, invalid("limit is %d; it must be positive", q.Limit)
	}
	s, err := t.scope([]string{q.Pattern}, false, q.Exclude)
	if err != nil {
		return GlobResult{}, err
	}
	finders := make([]*globber, t.workers())
	visitors := make([]visitor, len(finders))
	for i := range finders {
		finders[i] = &globber{tree: t, newest: newest{limit: q.Limit}}
		visitors[i] = finders[i]
	}
	if err := walkTree(ctx, t, s, visitors); err != nil {
		return GlobResult{}, err
	}
	return mergeGlobs(finders), nil
}

// scope prepares a walk that wants paths of the given patterns.
func (t Tree) scope(want []string, anyDepth bool, drop []string) (*scope, error) {
	s := &scope{find: t.finder(), dir: t.Root}
	g, err := newGlob(want, anyDepth, false)
	if err != nil {
		return nil, err
	}
	s.want = []*glob{g}
	if len(drop) > 0 {
		if s.drop, err = newGlob(drop, true, true); err != nil {
			return nil, err
		}
	}
	s.root = s.find.Root(t.Root)
	return s, nil
}

// globber is one worker of a Glob.
type globber struct {
	tree   Tree
	newest newest
	total  int
	held   int // files that were held back
	failed Unreadable
}

func (g *globber) beyond(string) bool { return false }
func (g *globber) ordered() bool      { return false }

func (g *globber) unreadable(path string) { g.failed.add(path) }

func (g *globber) visit(ctx context.Context, d *dir, files []entry) {
	withheld := g.tree.withheld(d)
	for _, e := range files {
		if ctx.Err() != nil {
			return
		}
		if withheld != nil && withheld(e.name) {
			g.held++
			continue
		}
		st, err := d.at.stat(e.name)
		if err != nil {
			continue // gone since it was listed
		}
		g.total++
		g.newest.add(GlobFile{Size: st.size, Modified: st.modified, Link: e.kind == kindLink}, d.path, e.name)
	}
}

func mergeGlobs(finders []*globber) GlobResult {
	var r GlobResult
	for _, g := range finders {
		r.Total += g.total
		r.Withheld += g.held
		r.Unreadable.merge(g.failed)
		r.Files = append(r.Files, g.newest.files...)
	}
	sort.Slice(r.Files, func(i, j int) bool { return newer(&r.Files[i], &r.Files[j]) })
	if limit := finders[0].newest.limit; len(r.Files) > limit {
		r.Files = r.Files[:limit:limit]
	}
	return r
}

// newer is the order of results.
func newer(a, b *GlobFile) bool {
	if !a.Modified.Equal(b.Modified) {
		return a.Modified.After(b.Modified)
	}
	return a.Path < b.Path
}

// newest keeps the first files in the order of results: a heap with the last of them on top.
type newest struct {
	limit int
	files []GlobFile
}

// add offers a file. Its path is only put together when its time does not rule it out.
func (n *newest) add(f GlobFile, folder, name string) {
	full := len(n.files) == n.limit
	if full && f.Modified.Before(n.files[0].Modified) {
		return
	}
	f.Path = folder + name
	if !full {
		heap.Push(n, f)
		return
	}
	if newer(&f, &n.files[0]) {
		n.files[0] = f
		heap.Fix(n, 0)
	}
}

func (n *newest) Len() int           { return len(n.files) }
func (n *newest) Less(i, j int) bool { return newer(&n.files[j], &n.files[i]) }
func (n *newest) Swap(i, j int)      { n.files[i], n.files[j] = n.files[j], n.files[i] }
func (n *newest) Push(x any)         { n.files = append(n.files, x.(GlobFile)) }

// Pop is never used: the heap only grows to its limit.
func (n *newest) Pop() any { panic("search: Pop of a heap that only grows") }
