package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Limits of copies into a new work tree.
const (
	mostCopied  = 200
	largestCopy = 16 << 20 // bytes per file
)

// narrowing is the project file that can only deny and ask: its restrictions also apply in a work
// tree, even if git does not track it.
const narrowing = ".adze/config.json"

// furnish copies the files that the user configured and reports omitted ones.
func (r *repository) furnish(ctx context.Context, rec *Record) (notices []string, err error) {
	main, err := r.manager.Git.Open(ctx, r.main)
	if err != nil {
		main = r.Repo // a bare repository: nothing to copy
	}
	names, err := main.Untracked(ctx, mostCopied, append([]string{"/" + narrowing}, r.manager.Copy...)...)
	if err != nil {
		return nil, fmt.Errorf("what is to be copied could not be listed: %w", err)
	}
	from, err := os.OpenRoot(main.Top)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := os.OpenRoot(rec.Path)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	for _, name := range names {
		if err := copyFile(from, to, name); err != nil {
			notices = append(notices, fmt.Sprintf("%s was not copied: %v", name, err))
			continue
		}
		rec.Copied = append(rec.Copied, name)
	}
	if len(rec.Copied) > 0 {
		notices = append(notices, "copied into it: "+strings.Join(rec.Copied, ", "))
	}
	if left := leftOut(main.Top, to); len(left) > 0 {
		notices = append(notices, fmt.Sprintf(`not in it, since git does not know them: %s; {"worktree": {"copy": [".env*"]}} in the configuration copies such files`, strings.Join(left, ", ")))
	}
	if main.HasSubmodules() {
		notices = append(notices, "its submodules are not checked out: git submodule update --init does that")
	}
	return notices, nil
}

// leftOut lists untracked files of the top folder that programs usually need.
func leftOut(main string, to *os.Root) (names []string) {
	entries, _ := os.ReadDir(main) // an unreadable one has none
	for _, e := range entries {
		if name := e.Name(); e.Type().IsRegular() && (name == ".env" || strings.HasPrefix(name, ".env.") || name == ".envrc") {
			if _, err := to.Lstat(name); errors.Is(err, fs.ErrNotExist) {
				names = append(names, name)
			}
		}
	}
	return names
}

// copyFile copies a regular file with its mode. It replaces nothing and follows no links.
func copyFile(from, to *os.Root, name string) error {
	info, err := from.Lstat(name)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case info.Size() > largestCopy:
		return errors.New("it is larger than 16 MiB")
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := to.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		return nil // git created it
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, largestCopy))
	return errors.Join(err, out.Close())
}
