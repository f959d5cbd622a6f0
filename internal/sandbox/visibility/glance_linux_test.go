package visibility

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Whatever happens to a tree, a glance tells what package filepath and package os find there now.
func TestAGlanceIsHowItIs(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
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
		g := New()
		for _, path := range paths {
			path := top + "/" + path
			real, ok := g.Real(path)
			want, err := filepath.EvalSymlinks(path)
			if ok != (err == nil) || ok && real != want {
				t.Fatalf("step %d: %s leads to %q, want %q: %v", step, path, real, want, err)
			}
			found, ok := g.Names(path)
			entries, err := os.ReadDir(path)
			if ok != (err == nil) || len(found) != len(entries) || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !found[e.Name()] }) {
				t.Fatalf("step %d: in %s are %v, want %v: %v", step, path, found, entries, err)
			}
		}
	}
}

// What has just changed may change again without a trace, so that its mark says nothing later, and
// no mark does for long.
func TestMarksSayWhetherAFolderIsTheSame(t *testing.T) {
	dir := t.TempDir()
	g := New()
	marks := Marks{dir: g.Mark(dir)}
	for _, c := range []struct {
		at, now time.Duration
		same    bool
	}{{0, time.Second, false}, {time.Second, 2 * time.Second, true}, {time.Second, MaxAge + 2*time.Second, false}} {
		later := New()
		later.now = g.now.Add(c.now)
		if got := later.Same(marks, g.now.Add(c.at)); got != c.same {
			t.Errorf("seen after %v and asked after %v: %v", c.at, c.now, got)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	later := New()
	later.now = g.now.Add(2 * time.Second)
	marks[dir] = Mark{Dev: marks[dir].Dev, Ino: marks[dir].Ino, Mode: marks[dir].Mode}
	if later.Same(marks, g.now.Add(time.Second)) {
		t.Error("a folder that changed is the same")
	}
}
