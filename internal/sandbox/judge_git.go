//go:build unix

package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/overlay"
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// repositoryChanges decides the changes of a repository that was there before. Its objects are
// added, whatever else happened; what says where its branches are is applied as a whole, below
// git's own locks, or not at all.
type repositoryChanges struct {
	*judge
	state   []*overlay.Change // all but objects
	packed  bool              // packed-refs was changed meanwhile
	clashes string            // why none of the state is applied; if empty, it is
	dir     string
	group   int
}

func newRepository(j *judge, c *overlay.Change) *repositoryChanges {
	j.repositories++
	r := &repositoryChanges{judge: j, dir: j.Real(c), group: j.repositories}
	if st, err := entry.StatOf(filepath.Join(r.dir, "packed-refs")); err == nil {
		r.packed = j.Newer(st)
	}
	return r
}

// part decides what is below a folder of the repository, and at the top the repository as a whole.
func (r *repositoryChanges) part(c *overlay.Change, rel string) {
	for _, child := range c.Children {
		r.one(child, filepath.Join(rel, filepath.Base(child.Path)))
	}
	if rel != "" {
		return
	}
	why := r.clashes
	switch {
	case why != "":
	case r.losesHidden():
		why = whyGitHidden
	default:
		return
	}
	for _, s := range r.state {
		if s.Left == "" && !s.Dropped {
			leave(s, why)
		}
	}
}

// losesHidden reports an index from which files are gone, or changed in it, that the command did
// not see.
func (r *repositoryChanges) losesHidden() bool {
	if len(r.hidden) == 0 || r.view.index == nil {
		return false
	}
	at := slices.IndexFunc(r.state, func(c *overlay.Change) bool { return r.Real(c) == r.view.index.Name() })
	if at < 0 {
		return false
	}
	before, err := r.before()
	if err != nil {
		return true
	}
	after, err := r.stagedAt(r.dir, r.Place(r.state[at]))
	if err != nil {
		return true
	}
	has := map[string]bool{}
	for _, entry := range after {
		has[entry] = true
	}
	return slices.ContainsFunc(before, func(entry string) bool {
		return !has[entry] && slices.ContainsFunc(r.hidden, func(hidden string) bool {
			rel, err := filepath.Rel(r.workspace, hidden)
			return err == nil && within(pathOf(entry), rel)
		})
	})
}

// one decides one entry by its path in the repository.
func (r *repositoryChanges) one(c *overlay.Change, rel string) {
	first, rest, _ := strings.Cut(rel, "/")
	switch {
	case c.Kind == apply.Merged:
		if first == "modules" && r.isRepository(c) == existing {
			newRepository(r.judge, c).part(c, "")
			return
		}
		if first == "worktrees" && rest != "" && !strings.Contains(rest, "/") {
			for _, child := range c.Children {
				r.one(child, filepath.Base(child.Path)) // its index and HEAD are of the same repository
			}
			return
		}
		if !seccomptrace.GitWrites(rel) && first != "modules" && first != "worktrees" {
			c.Upper.Mode = c.Lower.Mode
		}
		r.part(c, rel)
	case strings.HasSuffix(rel, ".lock"), first == "objects" && strings.Contains(rel, "tmp_"):
		c.Dropped = true // of a git that was killed
	case first == "objects":
		r.object(c, rel)
	case (first == "modules" || first == "worktrees") && c.Kind == apply.New && !c.Lower.There():
		r.module(c)
	case (first == "modules" || first == "worktrees") && c.Kind == apply.Removed:
		r.later(c)
	case c.Kind == apply.File && r.same(c):
		c.Dropped = true // git writes its configuration anew when it deletes a branch
	case !seccomptrace.GitWrites(rel) || !plainTree(c):
		leave(c, whyGitPart)
	case len(r.runsIn(c, rel)) > 0:
		leave(c, whyGitGoesOn+": "+r.runsIn(c, rel)[0])
	default:
		r.later(c)
		r.compare(c, rel)
	}
}

// same reports a small file that was replaced by one of the same content and mode.
func (r *repositoryChanges) same(c *overlay.Change) bool {
	if !c.Lower.IsFile() || c.Lower.Mode != c.Upper.Mode || c.Lower.Size != c.Upper.Size {
		return false
	}
	before, ok := textOf(r.Real(c))
	after, ok2 := textOf(r.Place(c))
	return ok && ok2 && before == after
}

// object decides an object, a pack or a list of them. Their names tell their content, so that one
// that is there is the same.
func (r *repositoryChanges) object(c *overlay.Change, rel string) {
	switch {
	case strings.HasSuffix(rel, "alternates") || !plainTree(c):
		leave(c, whyGitPart)
	case c.Kind == apply.Removed:
		c.Dropped, c.Order = r.Newer(c.Lower), orderLast
	case c.Kind == apply.File && c.Lower.IsFile() && (r.Newer(c.Lower) || !strings.HasPrefix(rel, "objects/info/") && !strings.Contains(rel, "multi-pack-index")):
		c.Dropped = true
	default:
		c.Order = orderObjects
	}
}

// Orders in which changes are applied: what names an object comes after it.
const (
	orderObjects = -1
	orderState   = 1
	orderLast    = 2
)

func (r *repositoryChanges) later(c *overlay.Change) {
	c.Order, c.Group = orderState, r.group
	r.state = append(r.state, c)
}

// compare finds out whether somebody else has changed an entry that says where a branch is, or what
// is staged.
func (r *repositoryChanges) compare(c *overlay.Change, rel string) {
	first, _, _ := strings.Cut(rel, "/")
	critical := slices.Contains([]string{"HEAD", "index", "packed-refs", "refs", "reftable", "shallow"}, first)
	if !critical {
		return
	}
	c.Locked = c.Kind == apply.File || c.Kind == apply.Removed && !c.Lower.IsFolder()
	newer := r.Newer(c.Lower) || first == "refs" && !c.Lower.There() && r.packed
	switch {
	case rel == "index" && r.bringsModule(c):
		r.clashes = whyGitModule
	case !newer:
	case rel == "index" && r.indexIs(c):
	default:
		r.clashes = whyGitNewer
	}
}

// bringsModule reports an index with a submodule that it did not have, while something works on the
// live tree: that may put a repository there at any time, and git status looks into it.
func (r *repositoryChanges) bringsModule(c *overlay.Change) bool {
	if c.Kind != apply.File || r.sandbox.alive.Load() == 0 {
		return false
	}
	now, err := r.stagedAt(r.dir, r.Place(c))
	if err != nil {
		return true
	}
	before, err := r.stagedAt(r.dir, r.Real(c))
	if err != nil && c.Lower.There() {
		return true
	}
	known := before.submodules()
	return slices.ContainsFunc(now.submodules(), func(path string) bool {
		return !slices.Contains(known, path) && !slices.Contains(r.nested, filepath.Join(filepath.Dir(r.dir), path, ".git"))
	})
}

// indexIs decides an index that somebody else has written meanwhile: git status does, when it finds
// files unchanged that look changed. It reports whether one of the two has no more in it than the
// index had before.
func (r *repositoryChanges) indexIs(c *overlay.Change) bool {
	if r.view.index == nil || c.Kind != apply.File || r.Real(c) != r.view.index.Name() {
		return false
	}
	before, err := r.before()
	if err != nil {
		return false
	}
	theirs, err := r.stagedAt(r.dir, r.Real(c))
	if err != nil {
		return false
	}
	if slices.Equal(before, theirs) {
		c.Known = true
		return true
	}
	ours, err := r.stagedAt(r.dir, r.Place(c))
	c.Dropped = err == nil && slices.Equal(before, ours)
	return c.Dropped
}

// module decides new repositories of submodules, whose names may have slashes, and what git keeps
// of a new work tree that is linked to the repository.
func (r *repositoryChanges) module(c *overlay.Change) {
	switch {
	case c.Kind != apply.New:
		leave(c, whyGitPart)
	case r.isRepository(c) == fresh:
		if why := r.dangerous(c, true); why != "" {
			c.Left = whyGitNested + ": " + why
		} else {
			r.later(c)
		}
	default:
		for _, child := range c.Children {
			r.module(child)
		}
	}
}

// runsIn are the commands in the state of a rebase.
func (r *repositoryChanges) runsIn(c *overlay.Change, rel string) []string {
	first, _, _ := strings.Cut(rel, "/")
	if first != "rebase-merge" && first != "sequencer" || c.Kind == apply.Removed {
		return nil
	}
	dir := r.Place(c)
	for range strings.Count(rel, "/") + 1 {
		dir = filepath.Dir(dir)
	}
	return waiting(dir)
}

// plainTree reports that a change puts nothing but plain files and folders anywhere.
func plainTree(c *overlay.Change) bool {
	ok := true
	c.Walk(func(c *overlay.Change) bool {
		if c.Kind == apply.Link || c.Kind == apply.Special || c.Kind == apply.File && c.Upper.SetID() {
			ok = false
		}
		return ok
	})
	return ok
}
