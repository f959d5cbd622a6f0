package overlay

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
	"adze/internal/sandbox/proc/shim/seccomptrace"

	"golang.org/x/sys/unix"
)

// room is a root with a view whose upper folder a test fills as the kernel would.
type room struct {
	t          *testing.T
	home, root string
	view       *View
}

func newRoom(t *testing.T, home string) *room {
	t.Helper()
	r := &room{t: t, home: home, root: t.TempDir()}
	t.Cleanup(func() { _, _ = entry.RemoveAll(r.root), entry.RemoveAll(home) })
	for name, content := range map[string]string{"changed": "old", "removed": "old", "kept": "kept", "tree/a": "old", "tree/sub/b": "old", "gone/a": "old", "file": "old", "one": "1", "two": "2", "in": "3", "over": "old", "d1/a": "4", "d2/b": "5"} {
		r.put(r.root, name, content)
	}
	return r
}

func (r *room) put(dir, name, content string) {
	r.t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// change makes a view and the changes of a command.
func (r *room) change() {
	r.t.Helper()
	var err error
	r.view, err = Make(r.home, []apply.Root{{Path: r.root}})
	r.check(err)
	r.t.Cleanup(r.view.release)
	up := r.view.UpperFolder(0)
	r.put(up, "changed", "new")
	r.put(up, "made", "new")
	r.put(up, "folder/x/y", "new")
	r.put(up, "folder/x/z", "new")
	r.check(os.Chmod(filepath.Join(up, "folder/x"), 0o500))
	r.put(up, "tree/sub/c", "new")
	r.check(unix.Lsetxattr(filepath.Join(up, "tree/sub"), "user.overlay.opaque", []byte("y"), 0))
	r.check(os.Chmod(filepath.Join(up, "tree/sub"), 0o500))
	r.check(os.Symlink("made", filepath.Join(up, "link")))
	r.check(os.Chmod(filepath.Join(up, "tree"), 0o700))
	r.put(up, "file/is/folder", "new")
	r.check(unix.Lsetxattr(filepath.Join(up, "file"), "user.overlay.opaque", []byte("y"), 0))
	for _, names := range [][2]string{{"one", "two"}, {"two", "one"}, {"in", "folder/in"}, {"d1/a", "d2/a"}, {"d2/b", "d1/b"}, {"d1", "d2"}, {"d2", "d1"}} {
		r.rename(names[0], names[1])
	}
	r.check(errors.Join(copyUp(r.root, up, "kept", "kept"), os.Link(filepath.Join(up, "kept"), filepath.Join(up, "over"))))
	for _, name := range []string{"removed", "gone", "in"} {
		if err := unix.Mknod(filepath.Join(up, name), unix.S_IFCHR, 0); err != nil {
			r.t.Skip("this kernel lets nobody make whiteouts:", err)
		}
	}
}

// rename makes of an entry in the root what a command's rename makes of it in the upper folder.
func (r *room) rename(from, to string) {
	r.t.Helper()
	up, at := r.view.UpperFolder(0), filepath.Join(r.view.UpperFolder(0), to)
	if info, err := os.Stat(filepath.Join(r.root, from)); err == nil && info.IsDir() {
		r.check(unix.Lsetxattr(at, "user.overlay.opaque", []byte("y"), 0))
	} else {
		r.check(errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), copyUp(r.root, up, from, to)))
	}
	st, err := entry.StatOf(at)
	r.check(errors.Join(err, unix.Lsetxattr(at, seccomptrace.Moved, []byte(seccomptrace.MovedValue(filepath.Join(r.root, from), st.Born[0], st.Born[1])), 0)))
}

// content is all that is in the root.
func (r *room) content() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	r.check(filepath.WalkDir(r.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(r.root, path)
		info, err := e.Info()
		r.check(err)
		switch {
		case e.IsDir():
			out[name] = info.Mode().String()
			list := make([]byte, 4096)
			n, err := unix.Llistxattr(path, list)
			if err == nil && strings.Contains(string(list[:n]), "user.overlay.") {
				out[name] += " with attributes of overlays"
			}
		case e.Type() == fs.ModeSymlink:
			out[name], _ = os.Readlink(path)
		default:
			data, err := os.ReadFile(path)
			r.check(err)
			out[name] = string(data)
		}
		return nil
	}))
	return out
}

func applied() map[string]string {
	return map[string]string{
		".": "drwxr-xr-x", "changed": "new", "kept": "kept", "made": "new", "link": "made", "folder": "drwxr-xr-x", "folder/x": "dr-x------", "folder/x/y": "new", "folder/x/z": "new",
		"tree": "drwx------", "tree/a": "old", "tree/sub": "dr-x------", "tree/sub/c": "new", "file": "drwxr-xr-x", "file/is": "drwxr-xr-x", "file/is/folder": "new",
		"one": "2", "two": "1", "folder/in": "3", "over": "kept", "d1": "drwxr-xr-x", "d1/b": "5", "d2": "drwxr-xr-x", "d2/a": "4",
	}
}

// homes are folders for views: one in the file system of the roots and one in another.
func homes(t *testing.T) map[string]string {
	out := map[string]string{"same": t.TempDir()}
	if dir, err := os.MkdirTemp("/dev/shm", "overlay-*"); err == nil {
		t.Cleanup(func() { _ = entry.RemoveAll(dir) })
		out["other"] = dir
	}
	return out
}

func TestApply(t *testing.T) {
	for name, home := range homes(t) {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, home)
			r.change()
			changes, err := r.view.Changes()
			r.check(err)
			out, err := r.view.Apply(changes)
			r.check(err)
			if len(out.Unapplied) > 0 {
				t.Errorf("left: %+v", out.Unapplied)
			}
			if got := r.content(); !maps.Equal(got, applied()) {
				t.Errorf("got %v\nwant %v", got, applied())
			}
			r.check(r.view.Close())
			if names, _ := os.ReadDir(home); len(names) > 0 {
				t.Errorf("left in the home of views: %v", names)
			}
		})
	}
}

// killed is what a test panics with where a process would die.
type killed struct{}

// TestAKillAtAnyMomentIsFinished ends the process before each step and between each two moments of
// one.
func TestAKillAtAnyMomentIsFinished(t *testing.T) {
	before := descriptors(t)
	t.Cleanup(func() {
		if now := descriptors(t); now > before {
			t.Errorf("%d descriptors are open, %d were", now, before)
		}
	})
	for name, home := range homes(t) {
		t.Run(name, func(t *testing.T) {
			for at := 1; ; at++ {
				r := newRoom(t, home)
				r.change()
				changes, err := r.view.Changes()
				r.check(err)
				if !dies(r.view, at, func() { _, err = r.view.Apply(changes) }) {
					if at < 10 {
						t.Fatalf("only %d moments", at)
					}
					return
				}
				r.view.release() // as the kernel does
				// The first attempts to recover are killed too.
				for again := 1; again < 4; again++ {
					w := entry.Moment
					entry.Moment = dieAt(again)
					func() {
						defer func() { _ = recover() }()
						_, err = Recover(home)
					}()
					entry.Moment = w
				}
				found, err := Recover(home)
				r.check(err)
				for _, o := range found {
					if len(o.Unapplied) > 0 {
						t.Errorf("moment %d: left %+v", at, o.Unapplied)
					}
				}
				if got := r.content(); !maps.Equal(got, applied()) {
					t.Errorf("moment %d: got %v\nwant %v", at, got, applied())
				}
				names, _ := os.ReadDir(home)
				for _, n := range names {
					t.Errorf("moment %d: %s is left", at, n.Name())
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

func TestAKillBeforeAnythingIsAppliedUndoes(t *testing.T) {
	r := newRoom(t, t.TempDir())
	before := r.content()
	r.change()
	r.view.release()
	out, err := Recover(r.home)
	r.check(err)
	if got := r.content(); !maps.Equal(got, before) {
		t.Errorf("got %v\nwant %v", got, before)
	}
	if len(out) != 1 || len(out[0].Unapplied) != 1 || out[0].Unapplied[0].CommandCopy == "" {
		t.Fatalf("%+v", out)
	}
	if data, err := os.ReadFile(filepath.Join(out[0].Unapplied[0].CommandCopy, "made")); string(data) != "new" {
		t.Errorf("what was kept: %q, %v", data, err)
	}
}

func TestAViewInUseIsNotRecovered(t *testing.T) {
	r := newRoom(t, t.TempDir())
	r.change()
	if out, err := Recover(r.home); err != nil || len(out) > 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := os.Stat(r.view.Folder(0)); err != nil {
		t.Error(err)
	}
}

// TestAFolderThatBecomesALinkIsNotFollowed turns a folder of the root elsewhere in the moment
// before a step.
func TestAFolderThatBecomesALinkIsNotFollowed(t *testing.T) {
	r := newRoom(t, t.TempDir())
	elsewhere := t.TempDir()
	r.change()
	changes, err := r.view.Changes()
	r.check(err)
	r.put(r.view.UpperFolder(0), "kept-too", "x")
	entry.Moment = func() {
		if _, err := os.Lstat(filepath.Join(r.root, "tree.moved")); err != nil {
			r.check(os.Rename(filepath.Join(r.root, "tree"), filepath.Join(r.root, "tree.moved")))
			r.check(os.Symlink(elsewhere, filepath.Join(r.root, "tree")))
		}
	}
	defer func() { entry.Moment = nil }()
	out, err := r.view.Apply(changes)
	r.check(err)
	if names, _ := os.ReadDir(elsewhere); len(names) > 0 {
		t.Errorf("written elsewhere: %v", names)
	}
	if !slices.ContainsFunc(out.Unapplied, func(l apply.Unapplied) bool {
		return l.Path == filepath.Join(r.root, "tree/sub") && l.Reason == apply.WhyParent
	}) {
		t.Errorf("%+v", out.Unapplied)
	}
}

func TestWhatIsChangedInTheLastMomentStays(t *testing.T) {
	r := newRoom(t, t.TempDir())
	r.change()
	changes, err := r.view.Changes()
	r.check(err)
	entry.Moment = func() {
		for _, name := range []string{"changed", "removed", "made", "gone/a", "tree/sub/b"} {
			_ = os.WriteFile(filepath.Join(r.root, name), []byte("theirs"), 0o644)
		}
		entry.Moment = nil
	}
	defer func() { entry.Moment = nil }()
	out, err := r.view.Apply(changes)
	r.check(err)
	got := r.content()
	for _, name := range []string{"changed", "removed", "made", "gone/a", "tree/sub/b"} {
		if got[name] != "theirs" {
			t.Errorf("%s: %q; %+v", name, got[name], out.Unapplied)
		}
	}
	if len(out.Unapplied) != 5 {
		t.Errorf("%+v", out.Unapplied)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(open)
}

func dieAt(n int) func() {
	return func() {
		if n--; n == 0 {
			panic(killed{})
		}
	}
}

// dies reports whether the process died.
func dies(v *View, at int, do func()) (died bool) {
	entry.Moment = dieAt(at)
	defer func() {
		entry.Moment = nil
		if e := recover(); e != nil {
			if e != (killed{}) {
				panic(e)
			}
			died = true
		}
	}()
	do()
	return false
}

func TestAViewThatIsOverIsNothingToRecover(t *testing.T) {
	r := newRoom(t, t.TempDir())
	r.change()
	changes, err := r.view.Changes()
	r.check(err)
	_, err = r.view.Apply(changes)
	r.check(err)
	r.check(r.view.Retire())
	r.view.release() // the process is killed
	if out, err := Recover(r.home); err != nil || len(out) > 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if names, _ := os.ReadDir(r.home); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}
