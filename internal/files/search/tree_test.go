package search

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/files/search/match"
)

// tree writes files and returns a Tree on them. A name that ends with a slash is a folder, a text
// that begins with "-> " makes a link.
func tree(t testing.TB, files map[string]string) Tree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			must(t, os.Symlink(to, path))
			continue
		}
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	home := t.TempDir()
	return Tree{Root: dir, Env: func(name string) string {
		return map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}[name]
	}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// found returns what a glob finds, by path.
func found(t *testing.T, tr Tree, pattern string, exclude ...string) []string {
	t.Helper()
	r, err := tr.Glob(context.Background(), GlobQuery{Pattern: pattern, Exclude: exclude, Limit: 1 << 30})
	must(t, err)
	paths := []string{}
	for _, f := range r.Files {
		paths = append(paths, f.Path)
	}
	slices.Sort(paths)
	if r.Total != len(paths) {
		t.Errorf("%s: total %d, but %d files", pattern, r.Total, len(paths))
	}
	return paths
}

func grep(t *testing.T, tr Tree, q GrepQuery) GrepResult {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 1000
	}
	r, err := tr.Grep(context.Background(), q)
	must(t, err)
	return r
}

func query(pattern string) match.Query { return match.Query{Pattern: pattern} }

// paths lists the files of a result.
func paths(r GrepResult) string {
	var names []string
	for _, f := range r.Files {
		names = append(names, f.Path)
	}
	return strings.Join(names, " ")
}

// age sets the times of files, in minutes before a fixed moment.
func age(t *testing.T, tr Tree, minutes map[string]int) {
	t.Helper()
	base := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, m := range minutes {
		at := base.Add(-time.Duration(m) * time.Minute)
		must(t, os.Chtimes(filepath.Join(tr.Root, name), at, at))
	}
}

// codeOf returns the stable code of an error.
func codeOf(err error) string {
	if e, ok := err.(interface{ ErrorCode() string }); ok {
		return e.ErrorCode()
	}
	return ""
}
