package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"adze/internal/files/workspace"
	"adze/internal/testkit/failfs"
)

type place struct {
	*testing.T
	root *workspace.Root
	dir  string
	out  string // a folder beside the workspace
	fs   *failfs.FS
}

func open(t *testing.T) place {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := place{T: t, dir: filepath.Join(top, "project"), out: filepath.Join(top, "out"), fs: &failfs.FS{Base: workspace.Disk{}}}
	for _, d := range []string{p.dir, p.out} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.root, err = workspace.OpenWith(p.dir, workspace.Options{FS: p.fs, LockDir: filepath.Join(top, "locks"), Home: p.out})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.root.Close() })
	return p
}

func (p place) put(name, content string) string {
	p.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(p.dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.Fatal(err)
	}
	return path
}

func (p place) link(target, name string) {
	p.Helper()
	if err := os.Symlink(target, filepath.Join(p.dir, name)); err != nil {
		p.Fatal(err)
	}
}

func (p place) resolve(name string) workspace.Path {
	p.Helper()
	path, err := p.root.Resolve(name)
	if err != nil {
		p.Fatalf("Resolve(%q): %v", name, err)
	}
	return path
}

func (p place) write(name, content string) (workspace.Written, error) {
	p.Helper()
	return p.root.Update(context.Background(), p.resolve(name), whole(content))
}

func whole(content string) func(*workspace.Current) ([]workspace.Splice, error) {
	return func(cur *workspace.Current) ([]workspace.Splice, error) {
		s := workspace.Splice{Data: []byte(content)}
		if cur.Exists {
			s.Len = cur.Size()
		}
		return []workspace.Splice{s}, nil
	}
}

func (p place) content(name string) string {
	p.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.Fatal(err)
	}
	return string(b)
}

// tree lists everything below the workspace.
func (p place) tree() (names []string) {
	p.Helper()
	err := filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(p.dir, path); rel != "." {
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	sort.Strings(names)
	return names
}

func code(err error) string {
	var e interface{ ErrorCode() string }
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	if err != nil {
		return "no code: " + err.Error()
	}
	return ""
}
