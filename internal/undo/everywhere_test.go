package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"adze/internal/files/search/ignore"
)

// field is a folder that undo covers, changed by Go alone, so that the same tests run on every
// system.
type field struct {
	*Workspace
	t           *testing.T
	root, state string
}

func newField(t *testing.T) *field {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &field{t: t, root: filepath.Join(top, "work"), state: filepath.Join(top, "state")}
	if err := os.Mkdir(p.root, 0o755); err != nil {
		t.Fatal(err)
	}
	p.open()
	t.Cleanup(func() {
		_ = p.Close()
		p.unlock()
	})
	p.write("src/a.go", "package a\n")
	p.write("src/crlf.txt", "one\r\ntwo\r\n")
	p.write("src/deep/er/x", "same")
	p.write("Read.me", "read")
	p.write("raw", "\x00\xff\x01")
	p.write("locked", "locked")
	p.write("two words/ü.txt", "umlaut")
	p.must(os.Chmod(p.path("locked"), 0o400))
	p.must(os.Link(p.path("src/deep/er/x"), p.path("src/y")))
	p.must(os.MkdirAll(p.path("empty/inner"), 0o700))
	return p
}

func (p *field) open() {
	p.t.Helper()
	w, err := Open(Options{Root: p.root, State: p.state, Limits: Limits{KeepFree: 1}, Ignore: ignore.Finder{Env: func(string) string { return "" }}})
	if errors.Is(err, ErrUnsupported) {
		p.t.Skip(err)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.Workspace = w
}

func (p *field) reopen() {
	p.t.Helper()
	p.must(p.Close())
	p.open()
}

func (p *field) path(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

func (p *field) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *field) write(name, text string) {
	p.t.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.path(name)), 0o700))
	p.must(os.WriteFile(p.path(name), []byte(text), 0o600))
}

// unlock lets what is there be removed.
func (p *field) unlock() {
	_ = filepath.WalkDir(p.root, func(path string, e fs.DirEntry, err error) error {
		if err == nil {
			_ = os.Chmod(path, 0o700)
		}
		return nil //nolint:nilerr // the test's folder is removed by who made it
	})
}

func (p *field) mark() Mark {
	p.t.Helper()
	m, err := p.Take(context.Background())
	p.must(err)
	return m
}

// shape describes what is there without help of the package: names as they are spelled, kinds,
// contents, whether a file can be written, and which names share one file.
func (p *field) shape() map[string]string {
	p.t.Helper()
	all := map[string]string{}
	p.must(filepath.WalkDir(p.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == p.root {
			return err
		}
		rel, _ := filepath.Rel(p.root, path)
		rel = filepath.ToSlash(rel)
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			all[rel] = "link " + target
		case e.IsDir():
			all[rel] = "folder"
		default:
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[rel] = fmt.Sprintf("file %q, writable %v", text, info.Mode()&0o200 != 0)
		}
		return nil
	}))
	return all
}

func (p *field) same(what string, want map[string]string) {
	p.t.Helper()
	got := p.shape()
	for _, name := range slices.Compact(slices.Sorted(maps.Keys(merged(got, want)))) {
		if got[name] != want[name] {
			p.t.Errorf("%s: %s is %q, want %q", what, name, got[name], want[name])
		}
	}
}

func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// undo undoes a window, and refuses nothing.
func (p *field) undo(what string, w Window) Result {
	p.t.Helper()
	plan, err := p.Plan(context.Background(), false, nil, nil, w)
	p.must(err)
	r, err := p.Apply(context.Background(), plan)
	p.must(err)
	for _, refused := range r.Refused {
		p.t.Errorf("%s: refused %v", what, refused)
	}
	return r
}

// changesEverywhere are what may happen to the files of a field.
func changesEverywhere(p *field) map[string]func() {
	remove := func(names ...string) {
		for _, name := range names {
			p.must(os.RemoveAll(p.path(name)))
		}
	}
	rename := func(from, to string) { p.must(os.Rename(p.path(from), p.path(to))) }
	return map[string]func(){
		"all is removed": func() {
			p.must(os.Chmod(p.path("locked"), 0o600))
			remove("src", "Read.me", "raw", "locked", "two words", "empty")
		},
		"files are written": func() {
			p.write("src/a.go", "package b\n")
			p.write("src/crlf.txt", "one\r\nTWO\r\n")
			p.write("n/e/w", "")
		},
		"a folder is renamed":    func() { rename("src/deep", "deep"); rename("two words", "src/words") },
		"a file is a folder":     func() { remove("raw"); p.write("raw/in/it", "x") },
		"a folder is a file":     func() { remove("src/deep"); p.write("src/deep", "file") },
		"a name is spelled anew": func() { rename("Read.me", "READ.ME"); rename("src", "Src") },
		"a file is locked":       func() { p.must(os.Chmod(p.path("raw"), 0o400)) },
		"a locked file changes": func() {
			p.must(os.Chmod(p.path("locked"), 0o600))
			p.write("locked", "changed")
			p.must(os.Chmod(p.path("locked"), 0o400))
		},
		"links are made and removed": func() { remove("src/y"); p.must(os.Link(p.path("raw"), p.path("src/raw"))) },
		"a link of a file changes":   func() { p.write("src/y", "in place") },
	}
}

// TestWhatHappensIsUndoneEverywhere undoes each change, and undoes the undo as another process.
func TestWhatHappensIsUndoneEverywhere(t *testing.T) {
	for what := range changesEverywhere(nil) {
		t.Run(what, func(t *testing.T) {
			p := newField(t)
			before, was := p.mark(), p.shape()
			changesEverywhere(p)[what]()
			after, is := p.mark(), p.shape()
			undone := p.undo("undo", Window{before, after})
			p.same("undo", was)
			p.reopen()
			p.undo("redo", undone.Window)
			p.same("redo", is)
		})
	}
}

// TestAnUndoThatDiesIsFinishedEverywhere ends an undo at each of its moments: what finishes it finds
// all as it was.
func TestAnUndoThatDiesIsFinishedEverywhere(t *testing.T) {
	stride := 3
	if testing.Short() {
		stride = 10
	}
	for n := 0; ; n += stride {
		p := newField(t)
		before, was := p.mark(), p.shape()
		p.write("src/a.go", "package b\n")
		p.write("src/y", "in place")
		p.write("n/e/w", "new")
		p.must(os.RemoveAll(p.path("two words")))
		is := p.shape()
		plan, err := p.Plan(context.Background(), false, nil, nil, Window{before, p.mark()})
		p.must(err)
		if died := p.dies(n, func() error { _, err := p.Apply(context.Background(), plan); return err }); !died {
			p.same("undone", was)
			return
		}
		p.reopen()
		if stage, _, err := p.Journal(plan.ID); err != nil || stage == NotBegun {
			p.must(err)
			p.same(fmt.Sprint("nothing was begun at ", n), is)
			continue
		}
		_, err = p.Recover(context.Background())
		p.must(err)
		p.same(fmt.Sprint("died at ", n), was)
		if t.Failed() {
			return
		}
	}
}

// dies runs f until its n-th moment.
func (p *field) dies(n int, f func() error) (died bool) {
	defer func() {
		p.crash = nil
		died = recover() != nil
	}()
	p.crash = func() {
		if n--; n < 0 {
			panic("dies")
		}
	}
	p.must(f())
	return false
}

// TestWhatIsNotKnownStaysEverywhere: what came since is neither removed nor overwritten, and one
// restores at a time.
func TestWhatIsNotKnownStaysEverywhere(t *testing.T) {
	p := newField(t)
	before := p.mark()
	p.write("src/a.go", "package b\n")
	p.write("new", "by the call")
	after := p.mark()
	p.write("src/a.go", "by the user\n")
	p.write("new", "by the user")
	plan, err := p.Plan(context.Background(), false, nil, nil, Window{before, after})
	p.must(err)
	r, err := p.Apply(context.Background(), plan)
	p.must(err)
	if len(r.Refused) != 2 || len(r.Done) != 0 {
		t.Errorf("done %v, refused %v", r.Done, r.Refused)
	}
	if got, _ := os.ReadFile(p.path("src/a.go")); string(got) != "by the user\n" {
		t.Errorf("the file of the user is %q", got)
	}
	unlock, err := p.lock()
	p.must(err)
	if _, err := p.Apply(context.Background(), plan); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one restores at the same time: %v", err)
	}
	unlock()
}

// TestOtherSpellingsAreTheSameFile: a change that is told by another spelling of a name is one of
// that file, where the disk takes both for one.
func TestOtherSpellingsAreTheSameFile(t *testing.T) {
	p := newField(t)
	if _, err := os.Stat(p.path("READ.ME")); err != nil {
		t.Skip("names that differ in case are two files here")
	}
	before, was := p.mark(), p.shape()
	p.write("Read.me", "changed")
	after, err := p.TakeAt(context.Background(), []string{"READ.ME"})
	p.must(err)
	p.undo("undo", Window{before, after})
	p.same("undo", was)
}

// TestLinksAreUndoneEverywhere runs where links can be made, and are seen as links.
func TestLinksAreUndoneEverywhere(t *testing.T) {
	p := newField(t)
	if err := os.Symlink("raw", p.path("link")); err != nil {
		t.Skipf("this user can make no links here: %v", err)
	}
	if info, err := os.Lstat(p.path("link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Skip("a link is not seen as one here, as under Wine 8")
	}
	before, was := p.mark(), p.shape()
	p.must(os.Remove(p.path("link")))
	p.must(os.Symlink("elsewhere", p.path("link")))
	p.undo("undo", Window{before, p.mark()})
	p.same("undo", was)
}

// TestTheTopOfADiskIsTooWide: no undo covers all of a disk.
func TestTheTopOfADiskIsTooWide(t *testing.T) {
	top := filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	if err := TooWide(Options{Root: top}); !errors.Is(err, ErrTooWide) {
		t.Errorf("%s: %v", top, err)
	}
	home := filepath.Join(t.TempDir(), "Home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := TooWide(Options{Root: filepath.Dir(home), Home: home}); !errors.Is(err, ErrTooWide) {
		t.Errorf("around the home: %v", err)
	}
	if runtime.GOOS == "windows" {
		if err := TooWide(Options{Root: strings.ToUpper(filepath.Dir(home)), Home: home}); !errors.Is(err, ErrTooWide) {
			t.Errorf("around the home, spelled otherwise: %v", err)
		}
	}
}
