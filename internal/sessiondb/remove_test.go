package sessiondb_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/sessiondb"
	"adze/session"
)

// say makes an entry that holds words, and padding so that sessions share and divide pages.
func say(n int, words string) session.Entry {
	return session.Entry{Type: session.MessageEntry, Time: storeClock(n),
		Data: fmt.Appendf(nil, `{"role":"user","parts":[{"kind":"text","text":"%s %s"}]}`, words, strings.Repeat("padding ", n*13%70))}
}

// starts makes the first entry of a session.
func starts(cwd string, more string) session.Entry {
	return session.Entry{Type: session.StartEntry, Time: storeClock(0), Data: fmt.Appendf(nil, `{"version":"1","cwd":%q%s}`, cwd, more)}
}

// holding lists the files of a folder that hold words.
func holding(t *testing.T, dir, words string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(words)) {
			out = append(out, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// crowd writes three sessions in turns, so that their rows stand beside each other, and what one
// says is in pages that were divided and moved.
func crowd(t *testing.T, s *sessiondb.Store) {
	t.Helper()
	for n := range 120 {
		for _, id := range []session.ID{"one", "two", "six"} {
			more := say(n, "words of "+string(id))
			if n == 0 {
				must(t, s.Append(t.Context(), id, starts("/here", "")))
			}
			must(t, s.Append(t.Context(), id, more))
		}
	}
	must(t, s.Append(t.Context(), "two-sub", starts("/here", `,"parent":"two","agent":"helper"`), say(3, "words of two by another")))
	must(t, s.Append(t.Context(), "two-sub-sub", starts("/here", `,"parent":"two-sub","agent":"helper"`), say(3, "words of two below")))
	must(t, s.Append(t.Context(), "copy", starts("/here", `,"parent":"two"`), say(3, "words of a copy")))
}

func TestWhatIsRemovedIsGoneFromTheFiles(t *testing.T) {
	for name, o := range map[string]sessiondb.Options{"wal": {Now: stopped}, "network": {Now: stopped, Network: func(string) bool { return true }}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "s.db")
			first, err := sessiondb.Open(t.Context(), path, o)
			must(t, err)
			crowd(t, first)
			must(t, first.Owner().Label(t.Context(), "two", sessiondb.Label{Kind: sessiondb.TitleLabel, Value: "words of two, named", Author: sessiondb.ByPerson}))
			must(t, first.Close())
			if len(holding(t, dir, "words of two")) == 0 {
				t.Fatal("the words cannot be found where they are")
			}
			s, err := sessiondb.Open(t.Context(), path, o)
			must(t, err)
			defer s.Close()
			before, err := s.Load(t.Context(), "one")
			must(t, err)
			gone, err := s.Owner().Remove(t.Context(), sessiondb.ByHand, "two")
			must(t, err)
			if len(gone) != 3 || gone[0].ID != "two" || gone[0].Entries != 121 {
				t.Errorf("removed %v, want it and the two of its subagents", gone)
			}
			must(t, s.Owner().Scrub(t.Context()))
			if left := holding(t, dir, "words of two"); len(left) > 0 {
				t.Errorf("the words are still in %v", left)
			}
			after, err := s.Load(t.Context(), "one")
			if err != nil || !slices.EqualFunc(before, after, func(a, b session.Entry) bool { return bytes.Equal(a.Data, b.Data) }) {
				t.Errorf("another session is not what it was: %v", err)
			}
			for id, want := range map[session.ID]int{"one": 121, "six": 121, "copy": 2} {
				if n, err := s.Verify(t.Context(), id); n != want || err != nil {
					t.Errorf("%s: %d sound entries, %v", id, n, err)
				}
			}
			if _, err := s.Load(t.Context(), "two"); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("a removed session: %v", err)
			}
			stone, err := s.Owner().WasRemoved(t.Context(), "two-s")
			if err != nil || stone != nil {
				t.Errorf("the beginning of two ids found %v, %v", stone, err)
			}
			if stone, err = s.Owner().WasRemoved(t.Context(), "two-sub-"); err != nil || stone == nil || stone.Reason != sessiondb.ByHand || stone.Entries != 2 {
				t.Errorf("what it left is %+v, %v", stone, err)
			}
		})
	}
}

// A number is what a search index and a stone know a session by.
func TestNumbersAreNotGivenTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	crowd(t, s)
	s.Close()
	s = mustOpen(t, path)
	gone, err := s.Owner().Remove(t.Context(), sessiondb.ByHand, "copy") // the last
	must(t, err)
	fill(t, s, "new", 2)
	s.Close()
	s = mustOpen(t, path)
	if more, err := s.Owner().Remove(t.Context(), sessiondb.ByHand, "new"); err != nil || more[0].Num <= gone[0].Num {
		t.Errorf("numbers %v and %v, %v", gone, more, err)
	}
}

func TestAnOpenSessionIsNotRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	mine, other := mustOpen(t, path), mustOpen(t, path)
	crowd(t, mine)
	must(t, other.Owner().Label(t.Context(), "one", sessiondb.Label{Kind: sessiondb.TagLabel, Value: "x", Author: sessiondb.ByPerson})) // also while it is open
	for _, s := range []*sessiondb.Store{mine, other} {
		if _, err := s.Owner().Remove(t.Context(), sessiondb.ByHand, "one"); !errors.Is(err, session.ErrLocked) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := other.Owner().Remove(t.Context(), sessiondb.ByHand, "none"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
	if err := other.Owner().Scrub(t.Context()); !errors.Is(err, sessiondb.ErrInUse) {
		t.Errorf("written anew while another has it open: %v", err)
	}
	must(t, mine.Close())
	if _, err := other.Owner().Remove(t.Context(), sessiondb.ByHand, "one", "none"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("one of them unknown: %v", err)
	}
	if n, err := other.Verify(t.Context(), "one"); n != 121 || err != nil {
		t.Errorf("all or none: %d, %v", n, err)
	}
	if _, err := other.Owner().Remove(t.Context(), sessiondb.ByHand, "one"); err != nil {
		t.Error(err)
	}
	must(t, other.Owner().Scrub(t.Context()))
	fill(t, other, "later", 3) // it can still be written
}
