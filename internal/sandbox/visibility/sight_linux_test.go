package visibility

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// later is a glance of a time at which nothing has changed for long, so that what is remembered
// counts.
func (s *Sight) later() *Glance {
	g := s.Glance()
	g.now = g.now.Add(time.Second)
	return g
}

// tick waits until the clock of the file system has moved, so that what changes from now on has
// another time of change than what has changed before.
func tick(t *testing.T, dir string) {
	t.Helper()
	first := time.Time{}
	for path := filepath.Join(dir, "tick"); ; {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); err != nil {
			t.Fatal(err)
		}
		changed := ChangeTime(&st)
		now := time.Unix(changed.Unix())
		if first.IsZero() {
			first = now
		}
		if now != first {
			return
		}
	}
}

// Whatever happens to a tree, what is remembered of it is what package filepath and package os find
// there now.
func TestWhatIsRememberedIsHowItIs(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	clock := t.TempDir()
	names := []string{"a", "b", "c"}
	var paths []string
	for _, x := range names {
		paths = append(paths, x)
		for _, y := range names {
			paths = append(paths, x+"/"+y, x+"/"+y+"/"+x, x+"/../"+y)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func() string { return filepath.Join(top, paths[random.IntN(len(paths))]) }
	var s Sight
	remembered := 0
	for step := range 150 {
		switch at := pick(); random.IntN(6) {
		case 0, 1:
			_ = os.MkdirAll(at, 0o755)
		case 2:
			_ = os.WriteFile(at, nil, 0o600)
		case 3:
			_ = os.RemoveAll(at)
		case 4:
			_ = os.Rename(at, pick())
		default:
			to := pick()
			if random.IntN(2) == 0 {
				to, _ = filepath.Rel(filepath.Dir(at), to)
			}
			_ = os.Symlink(to, at)
		}
		g := s.later()
		for _, path := range paths {
			path := top + "/" + path
			before := s.known[question{path, false}]
			real, ok := g.Real(path)
			want, err := filepath.EvalSymlinks(path)
			if ok != (err == nil) || ok && real != want {
				t.Fatalf("step %d: %s leads to %q, want %q: %v", step, path, real, want, err)
			}
			if before != nil && s.known[question{path, false}] == before {
				remembered++
			}
			found, ok := g.Names(path)
			entries, err := os.ReadDir(path)
			if ok != (err == nil) || len(found) != len(entries) || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !found[e.Name()] }) {
				t.Fatalf("step %d: in %s are %v, want %v: %v", step, path, found, entries, err)
			}
		}
		tick(t, clock)
	}
	if remembered < 1000 {
		t.Errorf("%d answers were remembered", remembered)
	}
}

// What has just changed may change again without a trace, and is looked at anew.
func TestWhatHasJustChangedIsNotRemembered(t *testing.T) {
	dir := t.TempDir()
	var s Sight
	for n := range 20 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if names, ok := s.Glance().Names(dir); !ok || len(names) != n+1 {
			t.Fatalf("%d names of %d", len(names), n+1)
		}
	}
	g := s.later()
	if names, ok := g.Names(dir); !ok || len(names) != 20 {
		t.Fatal(names)
	}
	a := s.known[question{dir, true}]
	old := s.later()
	old.now = old.now.Add(MaxAge + time.Second)
	if old.Same(a.folders, a.at) || !s.later().Same(a.folders, a.at) {
		t.Error("it is believed for too long, or not at all")
	}
}

// A path costs one look at each folder on it, also when many lead through the same ones.
func TestEachFolderIsLookedAtOnce(t *testing.T) {
	dir := t.TempDir()
	for n := range 50 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var s Sight
	look := func() (looks int, folders Marks) {
		g := s.later()
		for n := range 100 {
			g.Real(filepath.Join(dir, fmt.Sprint(n)))
		}
		looks, folders = len(g.marks), Marks{}
		for at := dir; at != "/"; at = filepath.Dir(at) {
			folders[at] = g.Mark(at)
		}
		return looks, folders
	}
	for range 1000 {
		first, before := look()
		again, after := look()
		if !maps.Equal(before, after) {
			continue // others work in the folders above
		}
		if first > 200 || again > 20 {
			t.Errorf("%d and %d looks, at most 200 and 20", first, again)
		}
		return
	}
	t.Skip("the folders above this one change all the time")
}
