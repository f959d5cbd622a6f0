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

// repositoryChanges decides on the changes in an existing repository. Objects are always added. The
// rest, such as branches, is applied under git's own locks as a whole or not at all.
type repositoryChanges struct {
	*judge
	state   []*overlay.Change // all except objects
	packed  bool              // packed-refs changed during the command
	clashes string            // why none of the state is applied, or ""
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

// part decides on the entries below one of the repository's folders; for rel "", also on the
// repository as a whole.
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
		if s.SkipReason == "" && !s.Dropped {
			leave(s, why)
		}
	}
}

// losesHidden reports whether the new index removes or changes entries of files hidden from the
// command.
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
			return err == nil && isWithin(pathOf(entry), rel)
		})
	})
}

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
				r.one(child, filepath.Base(child.Path)) // its index and HEAD belong to the same repository
			}
			return
		}
		if !seccomptrace.GitWrites(rel) && first != "modules" && first != "worktrees" {
			c.Upper.Mode = c.Lower.Mode
		}
		r.part(c, rel)
	case strings.HasSuffix(rel, ".lock"), first == "objects" && strings.Contains(rel, "tmp_"):
		c.Dropped = true // left by a killed git
	case first == "objects":
		r.object(c, rel)
	case (first == "modules" || first == "worktrees") && c.Kind == apply.New && !c.Lower.Exists():
		r.module(c)
	case (first == "modules" || first == "worktrees") && c.Kind == apply.Removed:
		r.later(c)
	case c.Kind == apply.File && r.same(c):
		c.Dropped = true // git rewrites its configuration when it deletes a branch
	case !seccomptrace.GitWrites(rel) || !plainTree(c):
		leave(c, whyGitPart)
	case len(r.runsIn(c, rel)) > 0:
		leave(c, whyGitGoesOn+": "+r.runsIn(c, rel)[0])
	default:
		r.later(c)
		r.compare(c, rel)
	}
}

// same reports whether a small file was replaced by one with equal content and mode.
func (r *repositoryChanges) same(c *overlay.Change) bool {
	if !c.Lower.IsFile() || c.Lower.Mode != c.Upper.Mode || c.Lower.Size != c.Upper.Size {
		return false
	}
	before, ok := textOf(r.Real(c))
	after, ok2 := textOf(r.Place(c))
	return ok && ok2 && before == after
}

// object decides on an object, a pack or a list of packs. Names follow from the content, so an
// existing one is the same.
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

// Order of applying changes: objects come before the entries that name them.
const (
	orderObjects = -1
	orderState   = 1
	orderLast    = 2
)

func (r *repositoryChanges) later(c *overlay.Change) {
	c.Order, c.Group = orderState, r.group
	r.state = append(r.state, c)
}

// compare detects changes by others to branches or the index during the command.
func (r *repositoryChanges) compare(c *overlay.Change, rel string) {
	first, _, _ := strings.Cut(rel, "/")
	critical := slices.Contains([]string{"HEAD", "index", "packed-refs", "refs", "reftable", "shallow"}, first)
	if !critical {
		return
	}
	c.Locked = c.Kind == apply.File || c.Kind == apply.Removed && !c.Lower.IsFolder()
	newer := r.Newer(c.Lower) || first == "refs" && !c.Lower.Exists() && r.packed
	switch {
	case rel == "index" && r.bringsModule(c):
		r.clashes = whyGitModule
	case !newer:
	case rel == "index" && r.indexIs(c):
	default:
		r.clashes = whyGitNewer
	}
}

// bringsModule reports whether the index adds a submodule while a command works on the live tree.
// That command may put a repository there at any time, and git status looks into it.
func (r *repositoryChanges) bringsModule(c *overlay.Change) bool {
	if c.Kind != apply.File || r.sandbox.alive.Load() == 0 {
		return false
	}
	now, err := r.stagedAt(r.dir, r.Place(c))
	if err != nil {
		return true
	}
	before, err := r.stagedAt(r.dir, r.Real(c))
	if err != nil && c.Lower.Exists() {
		return true
	}
	known := before.submodules()
	return slices.ContainsFunc(now.submodules(), func(path string) bool {
		return !slices.Contains(known, path) && !slices.Contains(r.nested, filepath.Join(filepath.Dir(r.dir), path, ".git"))
	})
}

// indexIs resolves an index that others wrote during the command, as git status does to refresh
// timestamps. It reports whether one of both indexes still has the entries from before.
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

// module decides on new repositories of submodules, whose names may contain slashes, and on git's
// data for a new linked work tree.
func (r *repositoryChanges) module(c *overlay.Change) {
	switch {
	case c.Kind != apply.New:
		leave(c, whyGitPart)
	case r.isRepository(c) == fresh:
		if why := r.dangerous(c, true); why != "" {
			c.SkipReason = whyGitNested + ": " + why
		} else {
			r.later(c)
		}
	default:
		for _, child := range c.Children {
			r.module(child)
		}
	}
}

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

// plainTree reports whether a change consists of plain files and folders only.
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
