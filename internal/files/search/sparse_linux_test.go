package search

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/files/search/match"
)

// sparse makes a file of a size in which text lies at some places, and holes between them.
func sparse(t *testing.T, path string, size int64, texts map[int64]string) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	for at, text := range texts {
		_, err := f.WriteAt([]byte(text), at)
		must(t, err)
	}
	if err := f.Truncate(size); err != nil {
		t.Skipf("this file system has no file of %d bytes: %v", size, err)
	}
	var st syscall.Stat_t
	if must(t, syscall.Fstat(int(f.Fd()), &st)); st.Blocks*512 > size/2 {
		t.Skip("this file system has no holes")
	}
}

// TestHolesAreNotRead searches files of 20 GiB of which nearly all is a hole. Reading those would
// take minutes, so the whole is given less time than that.
func TestHolesAreNotRead(t *testing.T) {
	const size = 20 << 30
	tr := tree(t, map[string]string{"a.txt": "a needle\n"})
	lines := strings.Repeat("some text of a log\n", 400)
	sparse(t, tr.Root+"/hole.bin", size, nil)
	sparse(t, tr.Root+"/late.log", size, map[int64]string{size - 8<<10: lines[:4096] + "a needle\n" + lines[:2000]})
	sparse(t, tr.Root+"/early.log", size, map[int64]string{0: strings.Repeat(lines, 30) + "a needle\n"})
	tr.Time, tr.Workers = 20*time.Second, 1
	for _, q := range []match.Query{query("needle"), query(`ne+dle$|needle\x00`), {Pattern: "NEEDLE", IgnoreCase: true}, {Pattern: `a\s+needle`, Multiline: true}} {
		r := grep(t, tr, GrepQuery{Query: q, Limit: 10})
		if got := paths(r); got != "a.txt early.log late.log" || strings.Join(r.Binary.Paths, " ") != "hole.bin" || r.Searched != 3 {
			t.Errorf("%+v: in %s, binary %v, %d searched, too large %v", q, got, r.Binary.Paths, r.Searched, r.TooLarge.Paths)
		}
	}
}

// TestNULsThatAreDataEndASearch writes 300 MiB of zeros as data, or what stands for them: more than
// a MiB of them is not read.
func TestNULsThatAreDataEndASearch(t *testing.T) {
	for name, in := range map[string]*zeros{"alone": {}, "behind text": {text: strings.Repeat("some text\n", 10_000)}} {
		m, err := match.Compile(query("needle"))
		must(t, err)
		found, err := match.NewScanner(m, match.Config{}).Run(t.Context(), in, 1)
		if err != nil || found.Skip != match.Binary || in.read > 1<<20 {
			t.Errorf("%s: %+v after %d bytes, %v", name, found, in.read, err)
		}
	}
}

// zeros is a text followed by NULs without end.
type zeros struct {
	text string
	read int
}

func (z *zeros) Read(p []byte) (int, error) {
	n := copy(p, z.text)
	z.text = z.text[n:]
	clear(p[n:])
	if z.read += len(p); z.read > 64<<20 {
		return 0, io.ErrUnexpectedEOF
	}
	return len(p), nil
}

// TestAFileIsReadToItsBound searches what lies within the bound of bytes, and names the file.
func TestAFileIsReadToItsBound(t *testing.T) {
	text := "needle\n" + strings.Repeat("some text of a log\n", 50_000) + "needle\n"
	tr := tree(t, map[string]string{"long": text, "short": "needle\n"})
	for bytes, want := range map[int64]int{int64(len(text)): 3, int64(len(text)) - 1: 3, int64(len(text)) - 7: 2, 100: 2} {
		tr.FileBytes = bytes
		r := grep(t, tr, GrepQuery{Query: query("needle"), Limit: 10})
		if cut := bytes < int64(len(text)); r.Matches != want || r.Partly.Count > 0 != cut {
			t.Errorf("%d of %d bytes: %d matches, cut %v", bytes, len(text), r.Matches, r.Partly.Paths)
		}
	}
}

// TestPipesAreNotOpened searches a tree with a FIFO and a link to it, and the FIFO itself.
func TestPipesAreNotOpened(t *testing.T) {
	tr := tree(t, map[string]string{"a.txt": "needle\n"})
	must(t, syscall.Mkfifo(tr.Root+"/pipe", 0o644))
	must(t, os.Symlink("pipe", tr.Root+"/link"))
	if r := grep(t, tr, GrepQuery{Query: query("needle"), Limit: 10}); paths(r) != "a.txt" || r.Unreadable.Count > 0 {
		t.Errorf("in %s, unreadable %v", paths(r), r.Unreadable)
	}
	real, err := filepath.EvalSymlinks(tr.Root + "/link")
	must(t, err)
	if _, err := (Tree{Root: real}).Grep(t.Context(), GrepQuery{Query: query("needle"), Limit: 10}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a FIFO as the root: %v", err)
	}
}

// TestASearchEndsInItsTime gives a search no time at all.
func TestASearchEndsInItsTime(t *testing.T) {
	tr := tree(t, map[string]string{"a.txt": "needle\n"})
	tr.Time = time.Nanosecond
	_, grepped := tr.Grep(t.Context(), GrepQuery{Query: query("needle"), Limit: 10})
	_, globbed := tr.Glob(t.Context(), GlobQuery{Pattern: "**", Limit: 10})
	_, listed := tr.List(t.Context(), ListQuery{Depth: 3, Limit: 10})
	for what, err := range map[string]error{"grep": grepped, "glob": globbed, "list": listed} {
		if e, ok := err.(*Error); !ok || e.Code != CodeTimeout {
			t.Errorf("%s: %v", what, err)
		}
	}
}
