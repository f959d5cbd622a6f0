package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/files/search/match"
)

// guessing counts the files that are read without being asked for their state.
type guessing struct {
	*seeker
	read *int
}

func (g guessing) visit(_ context.Context, d *dir, files []entry) {
	for _, e := range files {
		if g.known.rejects.Read(d.marks.of(e)) {
			*g.read++
		}
	}
}

// guessed is how many files a search for a word would read without a question.
func guessed(t *testing.T, tr Tree, word string) (n int) {
	t.Helper()
	m, err := match.Compile(query(word))
	must(t, err)
	s := newSeeker(tr, m, GrepQuery{Limit: 1}, &first{limit: 1})
	if s.known = tr.Signs.knowledge(tr, m); s.known.rejects == nil {
		t.Fatalf("nothing is known for %s", word)
	}
	sc, err := tr.scope(everything, true, nil)
	must(t, err)
	must(t, walkTree(context.Background(), tr, sc, []visitor{guessing{s, &n}}))
	return n
}

// TestMarksSaveQuestions holds that a file that was met before is only asked for its state where it
// may be left out, and that a mark hides nothing, whatever becomes of its file.
func TestMarksSaveQuestions(t *testing.T) {
	needSigns(t)
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f%03d.txt", i%7, i)] = fmt.Sprintf("number%d %s\n", i, []string{"common", "other", "neither"}[i%3])
	}
	tr := signedTree(t, files)
	tr.Folders = NewFolders()
	tr.Folders.now = ahead
	learn(t, tr)
	if n := guessed(t, tr, "common"); n != 0 {
		t.Errorf("%d files are guessed before any was met", n)
	}
	same(t, tr, GrepQuery{Query: query("zyzzyva"), Limit: 10})
	if n := guessed(t, tr, "common"); n < 100 || n > 120 || tr.Folders.marks() < 290 {
		t.Errorf("%d files are read without a question, want 100 of %d marked", n, tr.Folders.marks())
	}
	rng, probe := rand.New(rand.NewPCG(3, 4)), filepath.Join(t.TempDir(), "probe")
	for round := range 40 {
		i, j := rng.IntN(300), rng.IntN(300)
		path, other := fmt.Sprintf("%s/d%d/f%03d.txt", tr.Root, i%7, i), fmt.Sprintf("%s/d%d/f%03d.txt", tr.Root, j%7, j)
		switch round % 4 {
		case 0:
			must(t, os.WriteFile(path, []byte("common and new\n"), 0o644))
		case 1:
			_ = os.Rename(path, other)
		case 2:
			_ = os.Remove(path)
			_ = os.Link(other, path)
		case 3:
			must(t, os.WriteFile(path, []byte("other now\x00"), 0o644))
		}
		same(t, tr, GrepQuery{Query: query([]string{"common", "other", "neither", "new"}[rng.IntN(4)]), Limit: 400})
		if tick(t, probe); round == 20 {
			learn(t, tr) // marks of the last table say nothing about this one
			if n := guessed(t, tr, "common"); n != 0 {
				t.Errorf("%d files are guessed by marks of another table", n)
			}
		}
	}
}
