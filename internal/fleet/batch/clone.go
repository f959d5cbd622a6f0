package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/files/filelock"
)

// start is where work begins in a repository.
type start struct {
	mirror string // the bare repository that has it
	base   string // the commit
	branch string // which is checked out; if empty, none
}

// makeClone makes a repository with one branch, or none, whose objects are those of a bare one, and
// checks the commit out. The objects are copied: with hard links, what works in the clone could
// change those of the mirror, which other tasks are made of; a repository that borrows them would
// have the sandbox show a folder of adze's own. A copy of some packs takes next to no time, and on
// some file systems no room.
func (b *Batch) makeClone(ctx context.Context, clone, origin string, s start) error {
	if _, err := b.git(ctx, filepath.Dir(clone), initEnv(s.base), "init", "--quiet", "--template=", "--initial-branch=main", "--", clone); err != nil {
		return err
	}
	own := filepath.Join(clone, ".git")
	unlock, err := filelock.Share(ctx, s.mirror+".lock")
	if err != nil {
		return err
	}
	err = copyObjects(filepath.Join(own, "objects"), filepath.Join(s.mirror, "objects"))
	if shallow, failed := os.ReadFile(filepath.Join(s.mirror, "shallow")); err == nil && failed == nil {
		err = os.WriteFile(filepath.Join(own, "shallow"), shallow, 0o600)
	}
	var tags string
	if err == nil {
		tags, err = b.git(ctx, s.mirror, nil, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
	}
	unlock()
	if err == nil {
		err = writeRefs(own, s, tags)
	}
	if err == nil {
		err = nameOrigin(own, origin, s.branch)
	}
	if err != nil {
		return fmt.Errorf("the clone could not be made: %w", err)
	}
	how := []string{"checkout", "--quiet", "--detach", s.base}
	if s.branch != "" {
		how = []string{"checkout", "--quiet", "-B", s.branch, s.base}
	}
	_, err = b.git(ctx, clone, nil, how...)
	return err
}

// copyObjects copies the objects of a repository, in packs and loose.
func copyObjects(to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, path) // it is below
		switch {
		case errors.Is(err, fs.ErrNotExist) && rel != ".": // a folder that a repack emptied
			return nil
		case err != nil:
			return err
		case rel == "info" || strings.HasPrefix(e.Name(), "tmp_") || strings.HasPrefix(e.Name(), "incoming-"):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case e.Type().IsRegular() && !strings.HasSuffix(e.Name(), ".lock"):
			return copyFile(filepath.Join(to, rel), path)
		}
		return nil
	})
}

// copyFile copies a file, without a copy of its blocks where the file system can.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// writeRefs gives a new repository the branch that it comes from, and tags, in one file.
func writeRefs(own string, s start, tags string) error {
	var refs strings.Builder
	refs.WriteString("# pack-refs with: \n")
	if s.branch != "" {
		fmt.Fprintf(&refs, "%s refs/remotes/origin/%s\n", s.base, s.branch)
	}
	if tags != "" {
		refs.WriteString(tags + "\n")
	}
	return os.WriteFile(filepath.Join(own, "packed-refs"), []byte(refs.String()), 0o600)
}

// nameOrigin has a new repository come from another one, as git clone does.
func nameOrigin(own, origin, branch string) error {
	path := filepath.Join(own, "config")
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(raw) + "[remote \"origin\"]\n\turl = " + quoteSetting(origin) + "\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
	if branch != "" {
		text += "[branch " + quoteSetting(branch) + "]\n\tremote = origin\n\tmerge = " + quoteSetting("refs/heads/"+branch) + "\n"
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// quoteSetting writes a value, or the name of a part, as git reads it (git-config(1), "Syntax").
func quoteSetting(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(value) + `"`
}

// checkout makes the clone of a task and returns the commit that it starts from. At is the commit,
// where it is known; else it is found.
func (b *Batch) checkout(ctx context.Context, t Task, at string) (base string, err error) {
	if err := os.RemoveAll(b.dir(t)); err != nil {
		return "", err
	}
	if err := os.MkdirAll(b.dir(t), 0o700); err != nil {
		return "", err
	}
	s, err := b.source(ctx, t, at)
	if err != nil {
		return "", err
	}
	return s.base, b.makeClone(ctx, b.clone(t), cmp.Or(t.Repo, t.Folder), s)
}

// source finds where a task begins: in the mirror of its repository, or in a repository that is
// made of its folder.
func (b *Batch) source(ctx context.Context, t Task, at string) (start, error) {
	if t.Repo != "" {
		return b.startOf(ctx, t, at)
	}
	if info, err := os.Stat(t.Folder); err != nil || !info.IsDir() {
		return start{}, cmp.Or(err, fmt.Errorf("%s is no folder", t.Folder))
	}
	if top, err := b.git(ctx, t.Folder, nil, "rev-parse", "--show-toplevel"); err == nil && samePlace(top, t.Folder) {
		return b.startOf(ctx, t, at)
	}
	if t.Ref != "" {
		return start{}, fmt.Errorf("%s is no git repository, and so has no %s", t.Folder, t.Ref)
	}
	return b.adopt(ctx, t)
}

// adopt makes a bare repository of one commit of a folder that git does not know.
func (b *Batch) adopt(ctx context.Context, t Task) (s start, err error) {
	s = start{mirror: filepath.Join(b.dir(t), "folder.git"), branch: "main"}
	if err := os.RemoveAll(s.mirror); err != nil {
		return s, err
	}
	if _, err := b.git(ctx, b.dir(t), initEnv(""), "init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--", s.mirror); err != nil {
		return s, err
	}
	tree, err := b.tree(ctx, t, s.mirror, t.Folder, "", nil)
	if err != nil {
		return s, err
	}
	s.base, err = b.git(ctx, s.mirror, b.signature(t, b.now()), "commit-tree", "-m", "The folder as it was", tree)
	if err == nil {
		_, err = b.git(ctx, s.mirror, nil, "update-ref", "refs/heads/main", s.base)
	}
	return s, err
}

func samePlace(a, c string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(c)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
