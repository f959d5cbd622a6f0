package recorder

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/git"
	"adze/internal/undo"
)

// Undo keeps what git knows of its branches, index and so on, but not its objects. So before any of
// it is put back, git is asked whether the objects are still there: after git gc they may not be,
// and a branch without its commit is a broken repository. What needs a missing object stays as it
// is, and with it all that git keeps of that repository, for its parts only make sense together.
// What git can do without (reflogs, ORIG_HEAD) is judged file by file.

// Reasons for which git's own state is refused.
const (
	refusedObjects    = "git no longer has the objects that it needs"
	refusedRepository = "the repository that it belongs to is not there"
	refusedRefTable   = "git keeps its branches in a form that undo does not cover (reftable)"
	refusedTogether   = "git's own state belongs together, and some of it stays"
	refusedNoGit      = "git cannot tell whether its objects are there"
)

// repository is the steps of a plan in one folder of git: a ".git", or that of a submodule inside
// of it.
type repository struct {
	dir   string // relative to the workspace
	steps []undo.Step
}

// keepGitSound refuses the steps of a plan that would leave a repository without objects that it
// needs.
func (d Manager) keepGitSound(ctx context.Context, plan *undo.Plan) error {
	d.keepShared(plan)
	refused := map[string]string{}
	for _, r := range d.repositories(plan.Steps) {
		if keepObjects(r, plan); r.whole() {
			continue
		}
		if err := d.keepTogether(r, plan.Refused, refused); err != nil {
			return err
		}
		if err := d.judge(ctx, r, refused); err != nil {
			return err
		}
	}
	d.pointers(plan.Steps, refused)
	plan.Steps = slices.DeleteFunc(plan.Steps, func(s undo.Step) bool { return refused[s.Path] != "" })
	for path, reason := range refused {
		plan.Refused = append(plan.Refused, undo.Refusal{Path: path, Reason: reason})
	}
	slices.SortFunc(plan.Refused, func(a, b undo.Refusal) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

// repositories groups the steps in folders of git.
func (d Manager) repositories(steps []undo.Step) (all []*repository) {
	is := func(dir string) bool {
		_, err := os.Lstat(filepath.Join(d.Files.Paths().Absolute(dir), "HEAD"))
		return err == nil || slices.ContainsFunc(steps, func(s undo.Step) bool { return s.Path == dir+"/HEAD" })
	}
	for _, s := range steps {
		dir := gitFolder(s.Path, is)
		if dir == "" || dir == s.Path && s.To.Kind != undo.Folder && s.From.Kind != undo.Folder {
			continue
		}
		at := slices.IndexFunc(all, func(r *repository) bool { return r.dir == dir })
		if at < 0 {
			at, all = len(all), append(all, &repository{dir: dir})
		}
		all[at].steps = append(all[at].steps, s)
	}
	return all
}

// gitFolder is the innermost folder with objects of its own that holds a path of git's state; if
// empty, the path is none. Of the name of a submodule, which may hold slashes, only what stands in
// its folder tells where it ends.
func gitFolder(path string, is func(dir string) bool) string {
	parts := strings.Split(path, "/")
	at := slices.IndexFunc(parts, func(part string) bool { return part == ".git" || part == undo.OuterGit })
	if at < 0 {
		return ""
	}
	end, inModules := at+1, false
	for i := at + 1; i < len(parts); i++ {
		switch {
		case !inModules:
			inModules = parts[i] == "modules" && i == end
		case is(strings.Join(parts[:i+1], "/")):
			end, inModules = i+1, false
		}
	}
	return strings.Join(parts[:end], "/")
}

// keepTogether refuses all of a repository where some of it stays as it is: an index on another
// commit would undo that one unseen. What other work trees use may stay by itself, but for the
// branch that HEAD names.
func (d Manager) keepTogether(r *repository, stay []undo.Refusal, refused map[string]string) error {
	branches, err := d.headBranches(r)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(stay, func(x undo.Refusal) bool {
		return strings.HasPrefix(x.Path, r.dir+"/") && (x.Reason != refusedShared || slices.Contains(branches, x.Path))
	}) {
		return nil
	}
	for _, s := range r.steps {
		refused[s.Path] = refusedTogether
	}
	r.steps = nil
	return nil
}

// headBranches are the paths of the branches that HEAD names: now, and when it is put back.
func (d Manager) headBranches(r *repository) (paths []string, err error) {
	head := path.Join(r.dir, d.Files.Paths().Git.Own, "HEAD")
	present, _ := os.ReadFile(d.Files.Paths().Absolute(head)) // what cannot be read names none
	heads := [][]byte{present}
	for _, s := range r.steps {
		if s.Path == head && s.To.Kind == undo.File {
			content, err := d.Files.Content(s.To.Hash)
			if err != nil {
				return nil, err
			}
			heads = append(heads, content)
		}
	}
	for _, content := range heads {
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "ref: "); ok {
			paths = append(paths, r.dir+"/"+name)
		}
	}
	return paths, nil
}

// judge refuses what a repository lacks the objects for.
func (d Manager) judge(ctx context.Context, r *repository, refused map[string]string) error {
	all := func(reason string) error {
		for _, s := range r.steps {
			refused[s.Path] = reason
		}
		return nil
	}
	n, err := d.needs(r)
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		return all(refusedObjects + ": " + err.Error())
	case len(n.core)+len(n.single) == 0:
		return nil
	case exists(filepath.Join(d.Files.Paths().Absolute(r.dir), "reftable")):
		return all(refusedRefTable)
	case !exists(n.objects.Dir):
		return all(refusedRepository)
	}
	known, singles := d.presentIDs(r), []string(nil)
	for _, s := range n.single {
		singles = append(singles, s...)
	}
	lacks, err := d.Git.Missing(ctx, n.objects, slices.Concat(n.core, n.whole, singles, known))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return all(refusedNoGit + ": " + err.Error())
	}
	if n.objects.Partial() { // it may lack what it can fetch
		singles = nil
		n.core = slices.DeleteFunc(n.core, func(id string) bool { return lacks[id] })
	}
	if at := slices.IndexFunc(slices.Concat(n.core, n.whole), func(id string) bool { return lacks[id] }); at >= 0 {
		return all(refusedObjects + ": " + slices.Concat(n.core, n.whole)[at])
	}
	known = slices.DeleteFunc(known, func(id string) bool { return lacks[id] })
	if n.shallow { // what was whole before may not be with another end of the history
		n.whole, known = append(n.whole, known...), nil
	}
	if err := d.Git.Complete(ctx, n.objects, n.whole, known); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return all(refusedObjects + ": " + err.Error())
	}
	if singles == nil {
		return nil
	}
	for path, ids := range n.single {
		if at := slices.IndexFunc(ids, func(id string) bool { return lacks[id] }); at >= 0 {
			refused[path] = refusedObjects + ": " + ids[at]
		}
	}
	return nil
}

// neededObjects is which objects the files need that are put back.
type neededObjects struct {
	objects git.Objects
	core    []string            // objects that must be there
	whole   []string            // those that must be there with all that they reach
	single  map[string][]string // by the file that can be left alone
	shallow bool                // where the history ends is put back, too
}

// needs reads the files that are put back.
func (d Manager) needs(r *repository) (n neededObjects, err error) {
	dir := d.Files.Paths().Absolute(r.dir)
	n = neededObjects{objects: git.Objects{Dir: filepath.Join(dir, "objects")}, single: map[string][]string{}}
	config, _ := os.ReadFile(filepath.Join(dir, "config")) // none: as git does it by itself
	shallow, _ := os.ReadFile(filepath.Join(dir, "shallow"))
	var indexes [][]byte
	for _, s := range r.steps {
		name := strings.TrimPrefix(s.Path, r.dir+"/")
		n.shallow = n.shallow || name == "shallow"
		if name == "shallow" && s.To.Kind != undo.File {
			shallow = nil
		}
		if s.To.Kind != undo.File {
			continue
		}
		content, err := d.Files.Content(s.To.Hash)
		if err != nil {
			return n, err
		}
		inner := name // of a linked work tree, its own files are named as those of the main one
		if rest, ok := strings.CutPrefix(name, "worktrees/"); ok {
			_, inner, _ = strings.Cut(rest, "/")
		}
		first, _, _ := strings.Cut(inner, "/")
		switch {
		case name == "config":
			config = content
		case name == "shallow":
			shallow = content
		case first == "index":
			indexes = append(indexes, content)
		case first == "logs":
			n.single[s.Path] = logged(string(content))
		case slices.Contains([]string{"ORIG_HEAD", "FETCH_HEAD", "AUTO_MERGE"}, first):
			n.single[s.Path] = leading(string(content))
		case first == "refs", first == "rebase-merge", first == "rebase-apply", first == "sequencer", first == "packed-refs",
			strings.HasSuffix(first, "HEAD"), strings.HasPrefix(first, "BISECT_"):
			n.whole = append(n.whole, leading(string(content))...)
		}
	}
	n.objects.SHA256 = namesBySHA256(config)
	n.objects.Shallow = string(shallow)
	for _, content := range indexes {
		if err := d.indexed(&n, dir, content); err != nil {
			return n, err
		}
	}
	return n, nil
}

// indexed adds what an index needs, with the one that it is based on.
func (d Manager) indexed(n *neededObjects, dir string, content []byte) error {
	x, err := git.ParseIndex(content, n.objects.SHA256)
	if err != nil {
		return err
	}
	n.core = append(n.core, x.Objects...)
	if x.Shared == "" {
		return nil
	}
	base, err := os.ReadFile(filepath.Join(dir, "sharedindex."+x.Shared))
	if err != nil {
		return err
	}
	shared, err := git.ParseIndex(base, n.objects.SHA256)
	n.core = append(n.core, shared.Objects...)
	return err
}

// presentIDs are the ids that the refs of a repository name now, and the heads of its work trees.
func (d Manager) presentIDs(r *repository) (ids []string) {
	dir := d.Files.Paths().Absolute(r.dir)
	names := []string{"HEAD", "packed-refs"}
	heads, _ := filepath.Glob(filepath.Join(dir, "worktrees", "*", "HEAD")) // what cannot be read is not known
	for _, h := range heads {
		rel, _ := filepath.Rel(dir, h)
		names = append(names, rel)
	}
	_ = filepath.WalkDir(filepath.Join(dir, "refs"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, rel)
		}
		return nil //nolint:nilerr // what cannot be read is not known
	})
	for _, name := range names {
		content, _ := os.ReadFile(filepath.Join(dir, name))
		ids = append(ids, leading(string(content))...)
	}
	return ids
}

// pointers refuses the ".git" files of submodules and work trees whose repository is not there, and
// does not come.
func (d Manager) pointers(steps []undo.Step, refused map[string]string) {
	for _, s := range steps {
		if filepath.Base(s.Path) != ".git" || s.To.Kind != undo.File {
			continue
		}
		content, err := d.Files.Content(s.To.Hash)
		target, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir: ")
		if err != nil || !ok {
			continue
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(d.Root, filepath.Dir(s.Path), target)
		}
		comes := func(x undo.Step) bool {
			return x.To.Kind == undo.Folder && refused[x.Path] == "" && filepath.Join(d.Root, x.Path) == filepath.Clean(target)
		}
		if !exists(target) && !slices.ContainsFunc(steps, comes) {
			refused[s.Path] = refusedRepository
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// leading are the ids that lines begin with.
func leading(text string) (ids []string) {
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "^"), " ")
		word, _, _ = strings.Cut(word, "\t")
		if git.IsHash(word) {
			ids = append(ids, word)
		}
	}
	return ids
}

// logged are the ids of a reflog: before and after each change.
func logged(text string) (ids []string) {
	for line := range strings.Lines(text) {
		for i, word := range strings.SplitN(line, " ", 3) {
			if i < 2 && git.IsHash(word) && strings.Trim(word, "0") != "" {
				ids = append(ids, word)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// sameForGit reports that two files of git's own state mean the same: a git status, also one of an
// editor, writes an index anew when files have other times.
func sameForGit(path string, a, b []byte) bool {
	return filepath.Base(path) == "index" && git.SameIndex(a, b)
}
