package recorder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/git"
	"adze/internal/undo"
	"adze/session"
)

// Reasons for which git's own state is refused, or was not covered.
const (
	refusedShared = "other work trees of the repository use it, too"
	refusedWide   = "this folder is too wide for undo to cover git's own state in it"
	refusedNotGit = "undo does not cover it"

	refusedRepositoryStays = "the repository holds what is not undone, and stays as a whole"
)

// outer is where git keeps the state of the repository that a folder lies in, if that is not below
// the folder.
func outer(root string) undo.Outer {
	dir, own := git.Outside(root)
	return undo.Outer{Dir: dir, Own: own}
}

// keepShared refuses steps in a repository of several work trees that would change what the others
// work with: their branches, and files that hold something of all.
func (d Manager) keepShared(plan *undo.Plan) {
	if d.Files.Paths().Git.Own == "" {
		return
	}
	taken := d.takenBranches()
	plan.Steps = slices.DeleteFunc(plan.Steps, func(s undo.Step) bool {
		name, ok := strings.CutPrefix(s.Path, undo.OuterGit+"/")
		shared := ok && (name == "config" || name == "shallow" || slices.Contains(taken, strings.TrimPrefix(name, "logs/")))
		if ok && name == "packed-refs" {
			differ := d.differingRefs(s)
			if len(differ) == 0 {
				return true // git wrote the same again
			}
			shared = slices.ContainsFunc(differ, func(ref string) bool { return slices.Contains(taken, ref) })
		}
		if shared {
			plan.Refused = append(plan.Refused, undo.Refusal{Path: s.Path, Reason: refusedShared})
		}
		return shared
	})
}

// differingRefs are those that the file packed-refs would have otherwise after a step.
func (d Manager) differingRefs(s undo.Step) (refs []string) {
	from, to := d.packedRefs(s.From), d.packedRefs(s.To)
	for ref, id := range from {
		if to[ref] != id {
			refs = append(refs, ref)
		}
	}
	for ref := range to {
		if from[ref] == "" {
			refs = append(refs, ref)
		}
	}
	return refs
}

// packedRefs reads a file packed-refs: the ids by their refs.
func (d Manager) packedRefs(e undo.Entry) map[string]string {
	refs := map[string]string{}
	if e.Kind != undo.File {
		return refs
	}
	content, _ := d.Files.Content(e.Hash) // what is not kept is refused with the step
	for line := range strings.Lines(string(content)) {
		if id, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && git.IsHash(id) {
			refs[ref] = id
		}
	}
	return refs
}

// keepObjects has a repository that came in what is undone go as a whole, or stay as a whole. Of
// one that stays no object goes: what came later may need it.
func keepObjects(r *repository, plan *undo.Plan) {
	is := func(path string, to undo.Kind) bool {
		return slices.ContainsFunc(r.steps, func(s undo.Step) bool { return s.Path == path && s.To.Kind == to })
	}
	came := is(r.dir, undo.Absent) || is(r.dir+"/HEAD", undo.Absent) ||
		slices.ContainsFunc(plan.Refused, func(x undo.Refusal) bool { return x.Path == r.dir })
	if !came {
		goes := func(s undo.Step) bool {
			return s.To.Kind == undo.Absent && (s.Path == r.dir+"/objects" || strings.HasPrefix(s.Path, r.dir+"/objects/"))
		}
		r.steps = slices.DeleteFunc(r.steps, goes)
		plan.Steps = slices.DeleteFunc(plan.Steps, goes)
		return
	}
	inside := func(path string) bool { return path == r.dir || strings.HasPrefix(path, r.dir+"/") }
	stays := func(x undo.Refusal) bool {
		return inside(x.Path) || strings.HasSuffix(x.Path, ".git/objects") // it may have been moved from there
	}
	if !slices.ContainsFunc(plan.Refused, stays) {
		return
	}
	plan.Steps = slices.DeleteFunc(plan.Steps, func(s undo.Step) bool { return inside(s.Path) })
	plan.Refused = slices.DeleteFunc(plan.Refused, func(x undo.Refusal) bool { return inside(x.Path) })
	plan.Refused = append(plan.Refused, undo.Refusal{Path: r.dir, Reason: refusedRepositoryStays})
	r.steps = nil
}

// whole reports that a repository goes or comes with its objects, or that nothing of it changes.
func (r *repository) whole() bool {
	return len(r.steps) == 0 || slices.ContainsFunc(r.steps, func(s undo.Step) bool {
		return s.Path == r.dir+"/HEAD" && s.To.Kind == undo.Absent || s.Path == r.dir+"/objects" && s.To.Kind == undo.Folder && s.From.Kind == undo.Absent
	})
}

// takenBranches are the branches that other work trees have checked out, as refs.
func (d Manager) takenBranches() (refs []string) {
	o := d.Files.Paths().Git
	heads, _ := filepath.Glob(filepath.Join(o.Dir, "worktrees", "*", "HEAD")) // what cannot be read has none
	for _, head := range append(heads, filepath.Join(o.Dir, "HEAD")) {
		if filepath.Dir(head) == filepath.Join(o.Dir, filepath.FromSlash(o.Own)) {
			continue
		}
		content, _ := os.ReadFile(head)
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "ref: "); ok {
			refs = append(refs, name)
		}
	}
	return refs
}

// uncoveredGit lists what of git's own state would be meant by a wish and is not covered.
func (d Manager) uncoveredGit() (all []session.Refused) {
	if d.Files.Named() {
		return []session.Refused{{Path: ".git", Reason: refusedWide}}
	}
	for _, l := range d.Files.LeftOut() {
		of := gitFolder(l.Path, func(string) bool { return false })
		if of != "" && !l.Usual() {
			all = append(all, session.Refused{Path: d.shown(l.Path), Reason: refusedNotGit + ": " + l.Reason})
		}
	}
	return all
}

// notCovered reports a reason of uncoveredGit.
func notCovered(reason string) bool {
	return reason == refusedWide || strings.HasPrefix(reason, refusedNotGit+": ")
}

// shown is a path as the user knows it.
func (d Manager) shown(path string) string {
	if path == undo.OuterGit || strings.HasPrefix(path, undo.OuterGit+"/") {
		return d.Files.Paths().Absolute(path)
	}
	return path
}
