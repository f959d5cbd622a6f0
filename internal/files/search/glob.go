package search

import (
	"context"
	"slices"
	"time"
)

// GlobQuery selects the files to find.
type GlobQuery struct {
	// Pattern is relative to the tree: "**" crosses folders, "{a,b}" is either. Only an element
	// that begins with a dot matches hidden names.
	Pattern string
	Exclude []string // patterns to leave out; without a slash they match at any depth
	Limit   int      // files to return; must be positive
	// OnPath, if not nil, is called with each path as it is found, unordered and concurrently; after
	// an abort possibly even after Glob returned.
	OnPath func(path string)
}

// GlobFile is a file or link found by Glob.
type GlobFile struct {
	Path     string // relative to the tree's root
	Size     int64
	Modified time.Time
	Link     bool
}

// GlobResult lists files, newest first, then by path.
type GlobResult struct {
	Files      []GlobFile
	Total      int // exact, even beyond the limit
	Withheld   int // files left out by Tree.Withhold
	Unreadable Unreadable
}

// Glob finds files by path.
func (t Tree) Glob(ctx context.Context, q GlobQuery) (GlobResult, error) {
	ctx, cancel := t.within(ctx)
	defer cancel()
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
		finders[i] = &globber{tree: t, found: q.OnPath, newest: newest{limit: q.Limit}}
		visitors[i] = finders[i]
	}
	if err := walkTree(ctx, t, s, visitors); err != nil {
		return GlobResult{}, err
	}
	return mergeGlobs(finders), nil
}

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

type globber struct {
	tree   Tree
	asked  asker
	newest newest
	found  func(path string)
	total  int
	held   int
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
		size, modified, err := g.asked.file(d.folder, e.name)
		if err != nil {
			continue // deleted since it was listed
		}
		g.total++
		g.newest.add(datedFile{modified: modified, size: size, link: e.kind == kindLink}, d.path, e.name)
		if g.found != nil {
			g.found(d.path + e.name)
		}
	}
}

func mergeGlobs(finders []*globber) GlobResult {
	var r GlobResult
	var all []datedFile
	for _, g := range finders {
		r.Total += g.total
		r.Withheld += g.held
		r.Unreadable.merge(g.failed)
		all = append(all, g.newest.files...)
	}
	first := newest{limit: finders[0].newest.limit, files: all}
	first.cut()
	slices.SortFunc(first.files, func(a, b datedFile) int { return a.compare(&b) })
	r.Files = make([]GlobFile, len(first.files))
	for i := range r.Files {
		f := &first.files[i]
		r.Files[i] = GlobFile{Path: f.path, Size: f.size, Modified: time.Unix(0, f.modified), Link: f.link}
	}
	return r
}
