package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/files/search/match"
	"adze/internal/files/search/sign"
)

// learn makes the signatures of a tree at once, with a clock that is ahead: no file is too young.
// What changes later has other times, for it waits until the clock of the file system has moved.
func learn(t testing.TB, tr Tree) {
	t.Helper()
	s := tr.Signs
	s.now = func() time.Time { return time.Now().Add(time.Minute) }
	learnNow(t, tr)
	s.now = func() time.Time { return time.Now().Add(time.Hour) }
	probe := filepath.Join(t.TempDir(), "probe")
	var first time.Time
	for {
		must(t, os.WriteFile(probe, []byte("x"), 0o600))
		info, err := os.Stat(probe)
		must(t, err)
		if first.IsZero() {
			first = info.ModTime()
		}
		if info.ModTime().After(first) {
			return
		}
	}
}

// learnNow learns from a search that met everything and knew nothing.
func learnNow(t testing.TB, tr Tree) {
	t.Helper()
	m, err := match.Compile(query("x"))
	must(t, err)
	like := newSeeker(tr, m, GrepQuery{Limit: 1}, &first{limit: 1})
	like.r.Searched, like.unknown = 1<<20, 1<<20
	s := tr.Signs
	s.mu.Lock()
	s.next, s.attempts = time.Time{}, 0
	s.mu.Unlock()
	s.searched(tr, []*seeker{like})
	s.mu.Lock()
	learned := s.learned
	s.mu.Unlock()
	if learned != nil {
		<-learned
	}
}

// signedTree is a tree with signatures, which are kept in a folder of their own.
func signedTree(t testing.TB, files map[string]string) Tree {
	t.Helper()
	tr := tree(t, files)
	tr.Signs = NewSigns(filepath.Join(t.TempDir(), "cache", "signs"), tr.Root)
	t.Cleanup(func() { tr.Signs.Close() })
	return tr
}

// rejected is how many files a query need not read; if -1, the signatures do not say.
func rejected(t testing.TB, tr Tree, q match.Query) int {
	t.Helper()
	m, err := match.Compile(q)
	must(t, err)
	s := newSeeker(tr, m, GrepQuery{Limit: 1}, &first{limit: 1})
	if s.known = tr.Signs.knowledge(tr, m); s.known.rejects == nil {
		return -1
	}
	sc, err := tr.scope(everything, true, nil)
	must(t, err)
	must(t, walkTree(context.Background(), tr, sc, []visitor{counting{s}}))
	return s.r.Searched + s.r.Binary.Count
}

// counting asks for each file whether it is skipped, and reads none.
type counting struct{ *seeker }

func (c counting) visit(_ context.Context, d *dir, files []entry) {
	for _, e := range files {
		c.skips(d, e)
	}
}

// same compares a search with signatures to one without.
func same(t testing.TB, tr Tree, q GrepQuery) {
	t.Helper()
	with, err := tr.Grep(context.Background(), q)
	must(t, err)
	tr.Signs, tr.Folders = nil, nil
	without, err := tr.Grep(context.Background(), q)
	must(t, err)
	if d := cmp.Diff(without, with); d != "" {
		t.Fatalf("%+v: without signatures (-) and with them (+):\n%s", q, d)
	}
}

func needSigns(t testing.TB) {
	t.Helper()
	dir := t.TempDir()
	s := NewSigns(dir, dir)
	s.after = 0
	if _, ok := sign.PlaceOf(dir); !ok {
		t.Skip("nothing is signed on this system or file system")
	}
	learn(t, Tree{Root: dir, Signs: s})
	if current(t, Tree{Root: dir, Signs: s}) == nil {
		t.Fatal("nothing was signed")
	}
}

func TestSignaturesSaveReading(t *testing.T) {
	needSigns(t)
	tr := signedTree(t, map[string]string{
		"a.go": "func alpha() error {\n", "b.go": "func beta() { return TIMEOUT }\n", "c.txt": "Größe\n", "d.bin": "\x00\x01\x02\x03\x04",
		"wide.txt": "\xff\xfea\x00l\x00p\x00h\x00a\x00", "kelvin.txt": "al\u212a\n", "empty": "", "sub/e.go": "package e // alpha beta\n", "f.go": "func three()\n",
	})
	tr.Signs.after = 8
	if r := grep(t, tr, GrepQuery{Query: query("alpha")}); r.Matching != 3 || tr.Signs.learned == nil {
		t.Fatalf("%d files match, learning %v", r.Matching, tr.Signs.learned)
	}
	<-tr.Signs.learned
	learn(t, tr)
	for pattern, want := range map[string]int{
		"alpha": 5, "alpha|beta": -1, "(?i)timeout": 6, "größere Größen": 7, "Größe": 6, "nowhere": 7, `\w+_nowhere`: 7, `nowhere\d*`: 7, `[ab]lpha`: 5, `n(o|ever)where`: 7,
		"ALPHA": 5, "(?i)alkohol": 7, "al": -1, `\w+`: -1, "x*": -1, "nowhere|x*": -1, "(nowhere)?": -1, "(?s)nowhere.*alpha": 7,
	} {
		if n := rejected(t, tr, query(pattern)); n != want {
			t.Errorf("%s: %d files need not be read, want %d", pattern, n, want)
		}
		same(t, tr, GrepQuery{Query: query(pattern), Limit: 100})
		same(t, tr, GrepQuery{Query: query(pattern), Limit: 1, Mode: Files})
	}
}

// A file is known in one state alone.
func TestASignatureEndsWithTheState(t *testing.T) {
	needSigns(t)
	for name, change := range map[string]func(path string) error{
		"same size":  func(path string) error { return os.WriteFile(path, []byte("zyzzyva!\n"), 0o644) },
		"same times": keepingTimes(func(path string) error { return os.WriteFile(path, []byte("zyzzyva!\n"), 0o644) }),
		"renamed over": func(path string) error {
			if err := os.WriteFile(path+"~", []byte("zyzzyva!\n"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+"~", path)
		},
		"renamed over, same times": keepingTimes(func(path string) error {
			if err := os.WriteFile(path+"~", []byte("zyzzyva!\n"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+"~", path)
		}),
		"through another link": func(path string) error {
			return os.WriteFile(filepath.Dir(path)+"/../other.log", []byte("zyzzyva!\n"), 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := signedTree(t, map[string]string{"sub/a.txt": "nothing!\n", "b.txt": "b\n", ".gitignore": "*.log\n"})
			must(t, os.Link(tr.Root+"/sub/a.txt", tr.Root+"/other.log"))
			tr.Signs.after = 0
			learn(t, tr)
			if n := rejected(t, tr, query("zyzzyva")); n != 2 {
				t.Fatalf("%d files need not be read, want 2", n)
			}
			must(t, change(tr.Root+"/sub/a.txt"))
			if r := grep(t, tr, GrepQuery{Query: query("zyzzyva")}); r.Matches != 1 || r.Searched != 2 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// keepingTimes sets the times back to what they were.
func keepingTimes(change func(string) error) func(string) error {
	return func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if err := change(path); err != nil {
			return err
		}
		return os.Chtimes(path, info.ModTime(), info.ModTime())
	}
}

func TestYoungFilesAreRead(t *testing.T) {
	needSigns(t)
	tr := signedTree(t, map[string]string{"a.txt": "a\n", "old.txt": "b\n"})
	tr.Signs.after = 0
	age(t, tr, map[string]int{"old.txt": 5}) // its other time is young
	learnNow(t, tr)
	if n := rejected(t, tr, query("zyzzyva")); n > 0 {
		t.Errorf("%d files need not be read, want none", n)
	}
}

func TestAClockThatWasSetBackEndsAllSignatures(t *testing.T) {
	needSigns(t)
	tr := signedTree(t, map[string]string{"a.txt": "a\n"})
	tr.Signs.after = 0
	learn(t, tr)
	tr.Signs.now = time.Now
	if n := rejected(t, tr, query("zyzzyva")); n != -1 {
		t.Errorf("%d files need not be read by a clock that is behind", n)
	}
	learn(t, tr)
	if n := rejected(t, tr, query("zyzzyva")); n != 1 {
		t.Errorf("%d files need not be read after it was learned anew, want 1", n)
	}
}

// What was learned when a session ended is taken over by the next, and not asked before it is all.
func TestLearningThatWasAbortedGoesOn(t *testing.T) {
	needSigns(t)
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("d%d/f%d.txt", i/10, i)] = "alpha\n"
	}
	tr := signedTree(t, files)
	tr.Signs.after, tr.Signs.now = 0, func() time.Time { return time.Now().Add(time.Minute) }
	ctx, cancel := context.WithCancel(context.Background())
	part, met := tr, 0
	part.Withhold = func(string, string) bool {
		if met++; met == 250 {
			cancel()
		}
		return false
	}
	must(t, tr.Signs.Learn(ctx, part))
	table := current(t, tr)
	if table == nil || table.Whole() || table.Files() == 0 || table.Files() >= 500 {
		t.Fatalf("%+v", table)
	}
	if n := rejected(t, tr, query("zyzzyva")); n != -1 {
		t.Errorf("a part of the tree tells of %d files", n)
	}
	learn(t, tr)
	if n := rejected(t, tr, query("zyzzyva")); n < 480 {
		t.Errorf("%d files need not be read, want nearly 500", n)
	}
}

func TestWhatIsWithheldIsNotSigned(t *testing.T) {
	needSigns(t)
	tr := signedTree(t, map[string]string{"a.txt": "a\n", "secret.txt": "b\n"})
	tr.Signs.after = 0
	tr.Withhold = func(_, name string) bool { return name == "secret.txt" }
	learn(t, tr)
	if n := current(t, tr).Files(); n != 1 {
		t.Errorf("%d files are signed, want 1", n)
	}
	info, err := os.ReadDir(tr.Signs.folder.Path)
	must(t, err)
	for _, e := range info {
		if i, err := e.Info(); err != nil || i.Mode() != 0o600 {
			t.Errorf("%s: %v %v", e.Name(), i.Mode(), err)
		}
	}
}

// A cache folder that cannot be written to changes nothing but the time that searches take.
func TestACacheFolderThatCannotBeUsedHarmsNothing(t *testing.T) {
	needSigns(t)
	tr := signedTree(t, map[string]string{"a.txt": "alpha\n", "file": ""})
	for _, folder := range []string{tr.Root + "/file", tr.Root + "/file/below", "/proc/adze", "/dev/null/x"} {
		tr.Signs = NewSigns(folder, tr.Root)
		tr.Signs.after = 0
		for range signsFailures + 1 {
			learnNow(t, tr)
			same(t, tr, GrepQuery{Query: query("alpha"), Limit: 10})
		}
		if current(t, tr) != nil {
			t.Errorf("%s holds a table", folder)
		}
	}
	if info, err := os.Stat(tr.Root + "/file"); err != nil || info.Size() != 0 {
		t.Error("the file was touched")
	}
}
