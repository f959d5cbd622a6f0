package search

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"adze/internal/files/search/match"
)

// longFile is 4 MB of lines, of which one in the middle and the last are others.
func longFile() string {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "line %d of what is everywhere else\n", i)
		if i == 60_000 {
			b.WriteString("here is Zyzzyva17\n")
		}
	}
	return b.String() + "and Zyzzyva17 at the end"
}

// Of a long file only those parts are read that may hold a match, and the numbers of lines are
// right.
func TestOnlyPartsOfALongFileAreRead(t *testing.T) {
	needSigns(t)
	tr := signedTree(t, map[string]string{"long.txt": longFile(), "other.txt": "nothing\n"})
	tr.Signs.after, tr.Folders = 0, NewFolders()
	learn(t, tr)
	q := GrepQuery{Query: query("Zyzzyva17"), Limit: 10}
	for range 2 { // the second time by what the first left in Folders
		before := bytesRead(t)
		r, err := tr.Grep(context.Background(), q)
		must(t, err)
		if read := bytesRead(t) - before; read > 1<<20 {
			t.Errorf("%d bytes were read for two lines", read)
		}
		if len(r.Files) != 1 || r.Matches != 2 || r.Files[0].Lines[0].Number != 60_002 || r.Files[0].Lines[1].Number != 100_002 {
			t.Errorf("%+v", r)
		}
	}
	for _, q.Mode = range []Mode{Content, Files, Count} {
		same(t, tr, q)
	}
	q.Mode, q.Before, q.After = Content, 2, 1
	same(t, tr, q)
	q.Before, q.After, q.Multiline, q.Pattern = 0, 0, true, `else\nhere is Z`
	same(t, tr, q)
}

// bytesRead is how much this process has read from files.
func bytesRead(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	_, rest, ok := strings.Cut(string(text), "rchar: ")
	if err != nil || !ok {
		t.Skip("the system does not tell what was read: ", err)
	}
	number, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(number)
	must(t, err)
	return n
}

// meddler changes a file at the nth time that the search looks whether it was aborted.
type meddler struct {
	context.Context
	left   int
	change func()
}

func (m *meddler) Err() error {
	if m.left--; m.left == 0 {
		m.change()
	}
	return m.Context.Err()
}

// A file that changes while its parts are read is read as a whole after all.
func TestALongFileThatChangesWhileItIsRead(t *testing.T) {
	needSigns(t)
	tr := signedTree(t, map[string]string{"long.txt": longFile()})
	learn(t, tr)
	m, err := match.Compile(query("Zyzzyva17"))
	must(t, err)
	at, err := tr.openRoot()
	must(t, err)
	defer at.close()
	q := GrepQuery{Query: query("Zyzzyva17"), Limit: 10, PerFile: 10, Mode: Content}
	s := newSeeker(tr, m, q, newFirst(q))
	s.known = tr.Signs.knowledge(tr, m)
	if s.skips(&dir{at: at}, entry{name: "long.txt"}) {
		t.Fatal("a file that matches is skipped")
	}
	must(t, at.openFile("long.txt", &s.file.handle))
	defer s.file.Close()
	if _, ok := s.cut(); !ok {
		t.Fatal("all of it is to be read")
	}
	ctx := &meddler{context.Background(), 2, func() {
		must(t, os.WriteFile(tr.Root+"/long.txt", []byte("Zyzzyva17\nother\nZyzzyva17 Zyzzyva17\nZyzzyva17\n"), 0o644))
	}}
	found, err := s.run(ctx, 10)
	must(t, err)
	if ctx.left > 0 || found.Count != 3 || len(found.Lines) != 3 || found.Lines[2].Number != 4 {
		t.Errorf("of the file as it has become: %+v", found)
	}
}
