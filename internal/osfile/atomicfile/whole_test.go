//go:build unix

package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const (
	oldText = "old\n"
	newSize = 64 << 10
)

func newText() []byte { return bytes.Repeat([]byte("new "), newSize/4) }

// ways are those to write, by the names of their functions.
func ways() map[string]func(w writer, path string) error {
	return map[string]func(writer, string) error{
		"Write":      func(w writer, path string) error { w.durable = true; return w.replace(path, newText(), private) },
		"WriteCache": func(w writer, path string) error { return w.replace(path, newText(), private) },
		"Rewrite":    func(w writer, path string) error { w.durable = true; return w.replace(path, newText(), 0o640) },
		"Create":     func(w writer, path string) error { w.durable = true; return w.create(path, newText()) },
	}
}

// TestMain is the process that is killed before a step, or that finds the disk full, when the
// variable is set: WAY STEP PATH.
func TestMain(m *testing.M) {
	words := strings.Fields(os.Getenv("ADZE_WHOLE"))
	if len(words) != 3 {
		os.Exit(m.Run())
	}
	var w writer
	if words[1] == "full" {
		signal.Ignore(syscall.SIGXFSZ)
		_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: newSize / 2, Max: newSize / 2})
	} else {
		left, _ := strconv.Atoi(words[1])
		w.step = func() {
			if left--; left < 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	if err := ways()[words[0]](w, words[2]); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	os.Exit(0)
}

// other runs a way in another process and says how it ended; if -1, it was killed.
func other(t *testing.T, way, step, path string) (code int, said string) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "ADZE_WHOLE="+strings.Join([]string{way, step, path}, " "))
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// folder is a new folder with an old file, where the way begins with one.
func folder(t *testing.T, way string) (path string) {
	path = filepath.Join(t.TempDir(), "file")
	if way != "Create" {
		if err := os.WriteFile(path, []byte(oldText), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func content(t *testing.T, path string) string {
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "none"
	case err != nil:
		t.Fatal(err)
	case string(raw) == oldText:
		return "old"
	case bytes.Equal(raw, newText()):
		return "new"
	}
	return fmt.Sprintf("a part of %d bytes", len(raw))
}

func listed(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestAKilledWriteLeavesTheOldFileOrTheNewOne(t *testing.T) {
	for way := range ways() {
		seen, strays := map[string]bool{}, false
		for step := 0; ; step++ {
			path := folder(t, way)
			before := content(t, path)
			code, said := other(t, way, strconv.Itoa(step), path)
			got := content(t, path)
			if seen[got] = true; got != before && got != "new" {
				t.Errorf("%s, killed before step %d: the file is %s", way, step, got)
			}
			strays = strays || len(listed(t, filepath.Dir(path))) > 1
			if err := Write(filepath.Join(filepath.Dir(path), "next"), nil); err != nil {
				t.Error(err)
			}
			want := []string{"file", "next"}
			if got == "none" {
				want = want[1:]
			}
			if left := listed(t, filepath.Dir(path)); !slices.Equal(left, want) {
				t.Errorf("%s, killed before step %d: after the next write there is %q", way, step, left)
			}
			if code == 0 {
				break
			}
			if code != -1 || step > 20 {
				t.Fatalf("%s, killed before step %d: exit code %d: %s", way, step, code, said)
			}
		}
		if len(seen) != 2 || !strays {
			t.Errorf("%s was not killed at all its steps: saw %v, something left: %v", way, seen, strays)
		}
	}
}

func TestAFullDiskLeavesTheOldFileAndNothingElse(t *testing.T) {
	for way := range ways() {
		path := folder(t, way)
		before := content(t, path)
		names := listed(t, filepath.Dir(path))
		if code, said := other(t, way, "full", path); code != 3 || !strings.Contains(said, "too large") {
			t.Errorf("%s: exit code %d: %s", way, code, said)
		}
		if got := content(t, path); got != before {
			t.Errorf("%s: the file is %s", way, got)
		}
		if left := listed(t, filepath.Dir(path)); !slices.Equal(left, names) {
			t.Errorf("%s: there is %q", way, left)
		}
	}
}

func TestManyMayWriteIntoOneFolder(t *testing.T) {
	dir := t.TempDir()
	shared := filepath.Join(dir, "shared")
	want := []string{"shared"}
	var all sync.WaitGroup
	for n := range names + 8 { // more than there are names
		own := filepath.Join(dir, fmt.Sprintf("own-%02d", n))
		want = append([]string{filepath.Base(own)}, want...)
		all.Go(func() {
			for range 10 {
				if err := errors.Join(WriteCache(own, []byte(own)), WriteCache(shared, newText())); err != nil {
					t.Error(err)
				}
				if got := content(t, shared); got != "new" {
					t.Errorf("the shared file is %s", got)
				}
			}
			if raw, err := os.ReadFile(own); err != nil || string(raw) != own {
				t.Errorf("%s is %q, %v", own, raw, err)
			}
		})
	}
	all.Wait()
	slices.Sort(want)
	if got := listed(t, dir); !slices.Equal(got, want) {
		t.Errorf("there is %q", got)
	}
}

func TestWhatAnotherStillWritesStays(t *testing.T) {
	dir := t.TempDir()
	f, err := unfinished(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Write(filepath.Join(dir, "file"), nil); err != nil {
		t.Fatal(err)
	}
	if !isAt(f, f.Name()) {
		t.Error("what was being written is gone")
	}
}

func TestALinkInTheWayIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "file")
	for _, link := range []string{name(dir, 0), path} {
		if err := errors.Join(os.WriteFile(victim, []byte(oldText), 0o600), os.Symlink(victim, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(path, newText()); err != nil {
		t.Fatal(err)
	}
	if got := content(t, victim); got != "old" {
		t.Errorf("the file behind the link is %s", got)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
		t.Errorf("it is %v, %v", info, err)
	}
}

func TestRewriteKeepsTheModeAndTheLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	err := errors.Join(os.WriteFile(real, []byte(oldText), 0o600), os.Chmod(real, 0o664), os.Symlink("real", link), Rewrite(link, newText()))
	if err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "real" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode() != 0o664 || content(t, real) != "new" {
		t.Errorf("it is %v, %v, and %s", info, err, content(t, real))
	}
	fresh := filepath.Join(dir, "fresh")
	if err := Rewrite(fresh, nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(fresh); err != nil || info.Mode() != 0o600 {
		t.Errorf("a new one is %v, %v", info, err)
	}
}

func TestCreateReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := Create(path, []byte(oldText)); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, newText()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if err := (writer{durable: true}).createAt(path, newText()); !errors.Is(err, fs.ErrExist) { // as without hard links
		t.Errorf("got %v", err)
	}
	if got, names := content(t, path), listed(t, dir); got != "old" || len(names) != 1 {
		t.Errorf("it is %s, beside %q", got, names)
	}
}
