package fulltext

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"adze/internal/sessiondb"
	"adze/internal/testkit/effort"
	"adze/session"
)

// Children of these tests are this test binary, told by the environment which folder's index to
// bring up to date.
const childFolder = "ADZE_RECALL_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		err := error(nil)
		if task := os.Getenv(childTask); task != "" {
			events, _ := strconv.Atoi(os.Getenv(childEvents))
			err = measure(dir, task, events)
		} else {
			err = child(dir)
		}
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child brings an index up to date and says so after each of its small batches.
func child(dir string) error {
	ctx := context.Background()
	logs, err := sessiondb.Open(ctx, filepath.Join(dir, "sessions.db"), sessiondb.Options{})
	if err != nil {
		return err
	}
	defer logs.Close()
	small := indexing(func(done, total int64) error {
		_, err := fmt.Println(done, total)
		return err
	})
	small.Batch = 5
	return logs.Index(ctx, small)
}

// spawn starts a child, and kills it when it said so many lines; < 0: it runs to its end.
func spawn(t testing.TB, dir string, lines int) error {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childFolder+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	told, n := bufio.NewScanner(out), 0
	if lines == 0 {
		c.Process.Kill()
	}
	last := ""
	for told.Scan() {
		last = told.Text()
		if n++; n == lines {
			c.Process.Kill()
		}
	}
	if err := c.Wait(); err != nil && lines < 0 {
		return fmt.Errorf("%w: %s", err, last)
	}
	return nil
}

// grow adds to some sessions, new ones too.
func (s *shelf) grow(t testing.TB, r *rand.Rand, sessions int) {
	t.Helper()
	for n := range 10 {
		id := session.ID(fmt.Sprint("s", r.IntN(sessions)))
		var more []session.Entry
		for i := range 1 + r.IntN(12) {
			more = append(more, said(t, n*100+i, session.User, fmt.Sprintf("word%d number%d common words of a prompt", r.IntN(50), r.IntN(1000))))
		}
		s.add(t, id, more...)
	}
}

// Wherever an indexer is killed, what it leaves is sound, and the next one makes of it what a new
// index would be.
func TestKilledIndexersLeaveASoundIndex(t *testing.T) {
	rounds := effort.Rounds(12, 12, 1000)
	s := newShelf(t)
	r := rand.New(rand.NewPCG(uint64(rounds), 7))
	for round := range rounds {
		s.grow(t, r, 20+round/4)
		if round%4 == 3 { // sessions go,
			s.drop(t, r)
		}
		if err := spawn(t, s.dir, r.IntN(20)); err != nil {
			t.Fatal(err)
		}
		if round%3 == 2 || round == rounds-1 {
			s.sameAsNew(t)
		}
	}
}

// drop removes one of the sessions that are not open.
func (s *shelf) drop(t testing.TB, r *rand.Rand) {
	t.Helper()
	s.close()
	s.open(t)
	heads, err := s.logs.List(t.Context())
	must(t, err)
	_, err = s.logs.Owner().Remove(t.Context(), sessiondb.ByRule, heads[r.IntN(len(heads))].ID)
	must(t, err)
}

func TestTwoIndexersAndAWriter(t *testing.T) {
	s := newShelf(t)
	r := rand.New(rand.NewPCG(3, 4))
	s.grow(t, r, 30)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if err := spawn(t, s.dir, -1); err != nil {
				t.Error(err)
			}
		})
	}
	for range 10 {
		s.grow(t, r, 30)
		if _, _, err := Search(t.Context(), s.logs, Query{Text: "common"}); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
	s.sameAsNew(t)
}

// Damage to the words alone is no damage of the store: they are made anew.
func TestDamagedWordsAreMadeAnew(t *testing.T) {
	s := newShelf(t)
	s.grow(t, rand.New(rand.NewPCG(5, 6)), 3)
	must(t, Update(t.Context(), s.logs, nil))
	s.dump(t, "UPDATE words_data SET block = x'00ff17' WHERE id > 1000")
	if _, _, err := Search(t.Context(), s.logs, Query{Text: "common"}); err == nil || errors.Is(err, sessiondb.ErrDamaged) {
		t.Fatalf("a damaged index: %v", err)
	}
	if got := s.find(t, Query{Text: "common", Limit: 1}); got == "" {
		t.Error("nothing is found")
	}
	s.sameAsNew(t)
}
