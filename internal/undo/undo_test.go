//go:build linux

package undo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/files/search/ignore"
)

// site is a workspace in a folder of the test.
type site struct {
	*Workspace
	t     testing.TB
	root  string
	state string
	count int
	last  Window // of the last redo
}

func newSite(t testing.TB) *site {
	t.Helper()
	top, err := filepath.EvalSymlinks(scratch(t))
	if err != nil {
		t.Fatal(err)
	}
	p := &site{t: t, root: filepath.Join(top, "work"), state: filepath.Join(top, "state")}
	if err := os.Mkdir(p.root, 0o755); err != nil {
		t.Fatal(err)
	}
	p.open()
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// scratch is a folder for a test, in memory where there is one: what is tested here are processes
// that die and not a loss of power, and syncing a busy disk takes most of the time. Benchmarks use
// the disk.
func scratch(t testing.TB) string {
	t.Helper()
	if _, bench := t.(*testing.B); bench || os.Getenv("ADZE_UNDO_DISK") != "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "undo-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (p *site) options() Options {
	return Options{Root: p.root, State: p.state, Limits: Limits{KeepFree: 1},
		Ignore: ignore.Finder{Env: func(string) string { return "" }}}
}

func (p *site) open() {
	p.t.Helper()
	w, err := Open(p.options())
	if err != nil {
		p.t.Fatal(err)
	}
	p.Workspace = w
}

func (p *site) reopen() {
	p.t.Helper()
	if err := p.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.open()
}

func (p *site) mark() Mark {
	p.t.Helper()
	m, err := p.Take(context.Background())
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// sh runs a script in the workspace, with a git that knows nobody's settings.
func (p *site) sh(script string) {
	p.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = p.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "HOME="+p.root)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

// shape describes a tree without help of the package: kind, mode, content and target. Of a ".git"
// folder only its name counts, unless git is asked for, and then all but its objects.
func (p *site) shape(git bool) map[string]string {
	p.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(p.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(p.root, path)
		st, err := os.Lstat(path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir() && (e.Name() == ".git" && !git || strings.HasPrefix(rel, ".git/") && e.Name() == "objects"):
			return fs.SkipDir
		case e.IsDir():
			all[rel] = fmt.Sprint("folder ", st.Mode())
		case st.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			all[rel] = "link " + target
		default:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[rel] = fmt.Sprintf("file %v %x", st.Mode(), sha256.Sum256(content))
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// same reports how two shapes differ.
func (p *site) same(what string, got, want map[string]string) {
	p.t.Helper()
	keys := slices.Sorted(maps.Keys(got))
	for k := range want {
		if _, ok := got[k]; !ok {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		if got[k] != want[k] {
			p.t.Errorf("%s: %s is %q, want %q", what, k, got[k], want[k])
		}
	}
}

// fill makes a tree with one of everything.
func (p *site) fill() {
	p.t.Helper()
	p.sh(`mkdir -p src/deep/er empty/inner bin
printf 'package a\n' > src/a.go; printf 'one\r\ntwo\r\n' > src/crlf.txt
head -c 70000 /dev/zero > bin/zero; printf '\000\377\001' > bin/raw
printf '#!/bin/sh\n' > run.sh; chmod 755 run.sh; printf secret > .env; chmod 600 .env
ln -s src/a.go link; ln -s /nowhere dangling; ln -s src/deep folder-link
printf same > src/deep/er/x; ln src/deep/er/x src/y; chmod 750 src/deep; : > nothing
printf 'spaced' > 'a b
c'
printf utf8 > "$(printf 'bad\377name')"`)
}

func TestTheStateOfAnUnchangedTreeIsTheSame(t *testing.T) {
	p := newSite(t)
	p.fill()
	first := p.mark()
	if again := p.mark(); again != first {
		t.Error("a second look gave another state")
	}
	p.reopen()
	if p.tree == nil {
		t.Error("the table was not read")
	}
	if again := p.mark(); again != first {
		t.Error("after opening again the state is another")
	}
	if err := os.Remove(filepath.Join(p.state, "table")); err != nil {
		t.Fatal(err)
	}
	p.saved = true
	p.reopen()
	if again := p.mark(); again != first {
		t.Error("without the table the state is another")
	}
	parsed, err := ParseMark(first.String())
	if err != nil || parsed != first {
		t.Errorf("ParseMark: %v, %v", parsed, err)
	}
}

// changesOf are single changes of the tree that fill makes, and the paths that Diff must name.
var changesOf = []struct{ script, want string }{
	{"printf x > src/new.go", "src/new.go"},
	{"printf 'package b\n' > src/a.go", "src/a.go"},
	{"printf 'one\ntwo\n' > src/crlf.txt", "src/crlf.txt"},
	{"t=$(stat -c %y src/a.go); printf 'package z\n' > src/a.go; touch -d \"$t\" src/a.go", "src/a.go"},
	{"chmod 644 run.sh", "run.sh"},
	{"chmod 700 src/deep", "src/deep"},
	{"rm -r empty", "empty empty/inner"},
	{"mkdir other", "other"},
	{"ln -sfn src/crlf.txt link", "link"},
	{"rm src/y", "src/y"},
	{"printf more >> src/y", "src/deep/er/x src/y"},
	{"rm bin/raw; mkdir bin/raw; : > bin/raw/in", "bin/raw bin/raw/in"},
	{"mv src/a.go src/b.go", "src/a.go src/b.go"},
	{"rm link; cp src/a.go link", "link"},
	{"mkfifo pipe", "pipe"},
	{"touch src/a.go", ""},
}

func TestDiffNamesWhatChanged(t *testing.T) {
	for _, c := range changesOf {
		p := newSite(t)
		p.fill()
		before := p.mark()
		p.sh(c.script)
		after := p.mark()
		changes, err := p.Diff(context.Background(), before, after)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, ch := range changes {
			got = append(got, ch.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.script, got, c.want)
		}
		if (before == after) != (c.want == "") {
			t.Errorf("%s: equal marks: %v", c.script, before == after)
		}
	}
}

func TestWhatIsBeyondTheLimitsIsToldAndNotRead(t *testing.T) {
	p := newSite(t)
	p.opts.Limits.File, p.opts.Limits.IgnoredFile, p.opts.Limits.IgnoredDir = 1000, 100, 3
	p.sh(`git init -q . 2>/dev/null || mkdir .git
printf '*.db\nnode_modules/\ncache/\nfew/\n' > .gitignore
mkdir node_modules cache few src; printf x > node_modules/m; printf f > few/kept
for i in 1 2 3 4; do printf $i > cache/$i; done
head -c 2000 /dev/zero > src/large; head -c 200 /dev/zero > big.db; printf small > small.db; mkfifo pipe; printf k > src/kept`)
	m := p.mark()
	var got []string
	for _, l := range p.LeftOut() {
		got = append(got, l.Path)
	}
	if want := "big.db cache node_modules pipe src/large"; strings.Join(got, " ") != want {
		t.Errorf("left out %q, want %q", got, want)
	}
	all, err := p.Diff(context.Background(), p.emptyMark(), m)
	if err != nil {
		t.Fatal(err)
	}
	covered := map[string]Kind{}
	for _, c := range all {
		covered[c.Path] = c.After.Kind
	}
	for path, kind := range map[string]Kind{"src/kept": File, "small.db": File, "few/kept": File, "src/large": LeftOut, "cache": LeftOut, "pipe": LeftOut} {
		if covered[path] != kind {
			t.Errorf("%s is %v, want %v", path, covered[path], kind)
		}
	}
	p.sh("head -c 3000 /dev/zero > src/large")
	if p.mark() == m {
		t.Error("a change of what is left out is not seen")
	}
}

// emptyMark is the state of an empty folder.
func (p *site) emptyMark() Mark {
	p.t.Helper()
	d := &dir{}
	if err := p.list(d); err != nil {
		p.t.Fatal(err)
	}
	return Mark{d.hash}
}

func TestTheStoreInsideTheFolderIsNotCovered(t *testing.T) {
	p := newSite(t)
	o := p.options()
	o.State = filepath.Join(p.root, "state")
	w, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	first, err := w.Take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.Take(context.Background()); err != nil || again != first {
		t.Errorf("the store covers itself: %v", err)
	}
}

func TestHomeIsTooWide(t *testing.T) {
	for _, o := range []Options{{Root: "/"}, {Root: "/home/x/", Home: "/home/x"}} {
		if _, err := Open(o); err == nil {
			t.Errorf("%s was opened", o.Root)
		}
	}
}

// TestADamagedTableCostsOnlyTime turns bytes of the table: the state that is taken stays the same.
func TestADamagedTableCostsOnlyTime(t *testing.T) {
	p := newSite(t)
	p.fill()
	want := p.mark()
	p.reopen()
	path := filepath.Join(p.state, "table")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(whole); i += 37 {
		bad := slices.Clone(whole)
		bad[i] ^= 0xff
		if err := os.WriteFile(path, bad[:max(i, len(bad)-i)], 0o600); err != nil {
			t.Fatal(err)
		}
		p.saved = true
		p.reopen()
		if got := p.mark(); got != want {
			t.Fatalf("byte %d: another state", i)
		}
	}
}
