package recorder

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/git"
	"adze/internal/undo"
	"adze/session"
)

// Undo stores git's branches, index and so on, but not its objects. So before restoring any of
// these files, adze asks git whether their objects still exist: git gc may have deleted them, and a
// branch without its commit is a broken repository. If one is missing, all of that repository's own
// state is left alone, as its parts only make sense together. Files that git can do without
// (reflogs, ORIG_HEAD) are not checked.

// Reasons for refusing or not covering git's own state.
const (
	refusedObjects    = "git no longer has the objects that it needs"
	refusedRepository = "the repository that it belongs to is not there"
	refusedForm       = "git keeps it in a form that undo does not cover: "
	refusedTogether   = "git's own state belongs together, and some of it stays"
	refusedNoGit      = "git cannot tell whether its objects are there"
	refusedWide       = "this folder is too wide for undo to cover git's own state in it"
	refusedOutside    = "undo covers git's own state only where .git stands in this folder"
	refusedNotGit     = "undo does not cover it"
)

// repository holds a plan's steps in one git folder: a ".git", or that of a submodule inside it.
type repository struct {
	dir   string // relative to the workspace
	steps []undo.Step
}

// keepGitSound refuses the steps that would leave a repository without objects it needs.
func (d Manager) keepGitSound(ctx context.Context, plan *undo.Plan) error {
	refused := map[string]string{}
	for _, r := range d.repositories(plan.Steps) {
		why, err := d.judge(ctx, r, plan.Refused)
		if err != nil {
			return err
		}
		for _, s := range r.steps {
			if why != "" {
				refused[s.Path] = why
			}
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

func (d Manager) repositories(steps []undo.Step) (all []*repository) {
	is := func(dir string) bool {
		_, err := os.Lstat(filepath.Join(d.absolute(dir), "HEAD"))
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

// gitFolder returns the innermost folder with its own objects that contains a path of git's state,
// or "". A submodule's name may contain slashes; only its folder's content shows where it ends.
func gitFolder(path string, is func(dir string) bool) string {
	parts := strings.Split(path, "/")
	at := slices.IndexFunc(parts, func(part string) bool { return part == ".git" })
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

// judge returns the reason for refusing a repository's steps, or "". If one is refused, all are: an
// index on another commit would silently revert that commit.
func (d Manager) judge(ctx context.Context, r *repository, stay []undo.Refusal) (why string, err error) {
	if slices.ContainsFunc(stay, func(x undo.Refusal) bool { return strings.HasPrefix(x.Path, r.dir+"/") }) {
		return refusedTogether, nil
	}
	n, err := d.needs(r)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil:
		return refusedObjects + ": " + err.Error(), nil
	case len(n.indexes)+len(n.ids) == 0:
		return "", nil
	case n.form != "":
		return refusedForm + n.form, nil
	case !exists(n.objects.Dir):
		return refusedRepository, nil
	}
	known := d.presentIDs(r)
	lacks, err := d.Git.MissingObjects(ctx, n.objects, slices.Concat(n.ids, known))
	if err != nil {
		return refusedNoGit + ": " + err.Error(), ctx.Err()
	}
	if at := slices.IndexFunc(n.ids, func(id string) bool { return lacks[id] }); at >= 0 {
		return refusedObjects + ": " + n.ids[at], nil
	}
	known = slices.DeleteFunc(known, func(id string) bool { return lacks[id] })
	switch err := d.Git.Complete(ctx, n.objects, n.indexes, n.ids, known); {
	case err == nil:
		return "", nil
	case strings.Contains(err.Error(), "sharedindex."):
		return refusedForm + "a split index", nil
	default:
		return refusedObjects + ": " + err.Error(), ctx.Err()
	}
}

// neededObjects lists the objects the restored files need.
type neededObjects struct {
	objects git.Objects
	ids     []string // objects that must exist with all they reach
	indexes [][]byte
	form    string // why this cannot be determined; empty if it can
}

// needs reads the files to be restored.
func (d Manager) needs(r *repository) (n neededObjects, err error) {
	dir := d.absolute(r.dir)
	n.objects.Dir = filepath.Join(dir, "objects")
	promised, _ := filepath.Glob(filepath.Join(n.objects.Dir, "pack", "*.promisor")) // the pattern is well-formed
	switch {
	case exists(filepath.Join(dir, "reftable")):
		n.form = "reftable"
	case exists(filepath.Join(dir, "shallow")), len(promised) > 0:
		n.form = "a clone without all of its history"
	}
	config, _ := os.ReadFile(filepath.Join(dir, "config")) // a missing file means git's defaults
	for _, s := range r.steps {
		if s.To.Kind != undo.File {
			continue
		}
		content, err := d.Files.Content(s.To.Hash)
		if err != nil {
			return n, err
		}
		inner := strings.TrimPrefix(s.Path, r.dir+"/") // a linked worktree's own files have the same names as the main one's
		if rest, ok := strings.CutPrefix(inner, "worktrees/"); ok {
			_, inner, _ = strings.Cut(rest, "/")
		}
		first, _, _ := strings.Cut(inner, "/")
		switch {
		case s.Path == r.dir+"/config":
			config = content
		case first == "shallow":
			n.form = "a clone without all of its history"
		case first == "index":
			n.indexes = append(n.indexes, content)
		case slices.Contains([]string{"ORIG_HEAD", "FETCH_HEAD"}, first):
		case first == "refs", first == "rebase-merge", first == "rebase-apply", first == "sequencer", first == "packed-refs",
			strings.HasSuffix(first, "HEAD"), strings.HasPrefix(first, "BISECT_"):
			n.ids = append(n.ids, leading(string(content))...)
		}
	}
	n.objects.SHA256 = strings.Contains(strings.ToLower(strings.ReplaceAll(string(config), " ", "")), "objectformat=sha256")
	return n, nil
}

// presentIDs returns the IDs in a repository's present refs.
func (d Manager) presentIDs(r *repository) (ids []string) {
	dir := d.absolute(r.dir)
	paths := []string{filepath.Join(dir, "HEAD"), filepath.Join(dir, "packed-refs")}
	_ = filepath.WalkDir(filepath.Join(dir, "refs"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			paths = append(paths, path)
		}
		return nil //nolint:nilerr // what cannot be read is not known
	})
	for _, path := range paths {
		content, _ := os.ReadFile(path)
		ids = append(ids, leading(string(content))...)
	}
	return ids
}

// pointers refuses ".git" files of submodules and worktrees without a present or restored
// repository.
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

// leading returns the IDs at the start of lines.
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

// uncoveredGit lists the parts of git's own state a wish includes but undo does not cover.
func (d Manager) uncoveredGit() (all []session.Refused) {
	if d.Files.Named() {
		return []session.Refused{{Path: ".git", Reason: refusedWide}}
	}
	if dir := git.ExternalGitDir(d.Root); dir != "" {
		all = append(all, session.Refused{Path: dir, Reason: refusedOutside})
	}
	for _, l := range d.Files.LeftOut() {
		of := gitFolder(l.Path, func(string) bool { return false })
		if of != "" && !l.Expected() {
			all = append(all, session.Refused{Path: l.Path, Reason: refusedNotGit + ": " + l.Reason})
		}
	}
	return all
}

// notCovered reports whether a reason comes from uncoveredGit.
func notCovered(reason string) bool {
	return reason == refusedWide || reason == refusedOutside || strings.HasPrefix(reason, refusedNotGit+": ")
}

func (d Manager) absolute(path string) string { return filepath.Join(d.Root, filepath.FromSlash(path)) }
