package sessiondb_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sessiondb"
	"adze/session"
)

// edit changes a database behind the store's back.
func edit(t *testing.T, path, statements string) {
	t.Helper()
	u := url.URL{Scheme: "file", Path: sessiondb.URIPath(path)}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

const unguard = "DROP TRIGGER entries_keep; DROP TRIGGER entries_stay; DROP TRIGGER entries_count;"

func TestVerifyNamesTheFirstBadRow(t *testing.T) {
	for _, c := range []struct {
		name, change string
		seq          int64
		why          string
	}{
		{"sound", "SELECT 1", 0, ""},
		{"flipped letter", `UPDATE entries SET data = replace(data, 'user', 'usar') WHERE seq = 4 AND session = 1`, 4, "hash"},
		{"changed time", "UPDATE entries SET time = time + 1 WHERE seq = 1 AND session = 1", 1, "hash"},
		{"changed type", "UPDATE entries SET type = 'end' WHERE seq = 9 AND session = 1", 9, "hash"},
		{"flipped hash", "UPDATE entries SET hash = zeroblob(32) WHERE seq = 5 AND session = 1", 5, "hash"},
		{"dropped first", "DELETE FROM entries WHERE seq = 1 AND session = 1", 1, "missing"},
		{"dropped middle", "DELETE FROM entries WHERE seq = 6 AND session = 1", 6, "missing"},
		{"dropped last", "DELETE FROM entries WHERE seq = 10 AND session = 1", 10, "missing"},
		{"dropped all", "DELETE FROM entries WHERE session = 1", 1, "missing"},
		{"dropped and closed up", "DELETE FROM entries WHERE seq = 6 AND session = 1; UPDATE entries SET seq = seq - 1 WHERE seq > 6 AND session = 1", 6, "hash"},
		{"swapped", "UPDATE entries SET seq = 99 WHERE seq = 3 AND session = 1; UPDATE entries SET seq = 3 WHERE seq = 7 AND session = 1; UPDATE entries SET seq = 7 WHERE seq = 99", 3, "hash"},
		{"cut", "UPDATE entries SET data = substr(data, 1, 5) WHERE seq = 8 AND session = 1", 8, "hash"},
		{"added", "INSERT INTO entries SELECT session, 11, type, time, data, hash FROM entries WHERE seq = 10 AND session = 1", 11, "hash"},
		{"from another session", "UPDATE entries SET data = o.data, time = o.time, hash = o.hash FROM entries AS o WHERE o.session = 2 AND o.seq = 2 AND entries.session = 1 AND entries.seq = 2", 2, "hash"},
		{"two", "UPDATE entries SET time = 0 WHERE seq IN (7, 2) AND session = 1", 2, "hash"},
		{"not text", "UPDATE entries SET time = 'noon' WHERE seq = 4 AND session = 1", 4, "read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			s := mustOpen(t, path)
			fill(t, s, "one", 10)
			fill(t, s, "two", 3)
			s.Close()
			edit(t, path, unguard+c.change)
			s = mustOpen(t, path)
			_, err := s.Verify(t.Context(), "one")
			var bad *sessiondb.BadRow
			if c.seq == 0 {
				if err != nil {
					t.Fatalf("a sound session: %v", err)
				}
			} else if !errors.As(err, &bad) || bad.Session != "one" || bad.Seq != c.seq || !strings.Contains(bad.Reason, c.why) {
				t.Errorf("got %v, want entry %d, %s", err, c.seq, c.why)
			}
			_ = s.Stream(t.Context(), "one", func(session.Entry) error { return nil }) // what it cannot read, Verify tells
			if got := s.Verdict(t.Context(), "one"); (got == nil) != (bad == nil) || got != nil && *got != *bad {
				t.Errorf("a stream found %v, want %v", got, bad)
			}
			if n, err := s.Verify(t.Context(), "two"); n != 3 || err != nil {
				t.Errorf("the other session: %d sound entries, %v", n, err)
			}
		})
	}
}

func TestVerifyDoesNotKnowUnknownSessions(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "s.db"))
	if _, err := s.Verify(t.Context(), "one"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestTheDatabaseKeepsEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	fill(t, s, "one", 2)
	s.Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, change := range []string{"UPDATE entries SET data = '{}'", "DELETE FROM entries"} {
		if _, err := db.Exec(change); err == nil {
			t.Errorf("%s was accepted", change)
		}
	}
}

// sessionsForDamage spread over many pages.
const sessionsForDamage, entriesForDamage = 20, 30

func damageable(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	padding := strings.Repeat("p", 300)
	for i := range sessionsForDamage {
		var log []session.Entry
		for n := range entriesForDamage {
			log = append(log, session.Entry{Type: session.MessageEntry, Time: storeClock(n), Data: fmt.Appendf(nil, `{"s":%d,"n":%d,"p":"%s"}`, i, n, padding)})
		}
		if err := s.Append(t.Context(), session.ID(fmt.Sprint("s", i)), log...); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fold(t, path) // a log that is left would hide the damage
	return path
}

const pageSize = 4096

// overwrite puts noise over pages from..to-1.
func overwrite(from, to int) func([]byte) []byte {
	return func(b []byte) []byte {
		copy(b[from*pageSize:to*pageSize], bytes.Repeat([]byte("noise "), pageSize))
		for i := from * pageSize; i < to*pageSize; i++ {
			b[i] = byte(i*7 + 3)
		}
		return b
	}
}

func TestSalvage(t *testing.T) {
	all := sessionsForDamage * entriesForDamage
	for _, c := range []struct {
		name   string
		damage func([]byte) []byte
		least  int  // entries that must come back
		late   bool // found while reading, not by opening
	}{
		{"header of another kind", func(b []byte) []byte { copy(b, "not a database"); return b }, 0, false},
		{"first page gone", overwrite(0, 1), 0, false},
		{"cut to a few bytes", func(b []byte) []byte { return b[:50] }, 0, false},
		{"cut in half", func(b []byte) []byte { return b[:len(b)/2/pageSize*pageSize] }, all / 4, false},
		{"last page cut off", func(b []byte) []byte { return b[:len(b)-pageSize] }, all - 40, false},
		{"a leaf in the middle", overwrite(40, 41), all - 40, true},
		{"a page above leaves", overwrite(36, 37), all * 3 / 4, true},
		{"two pages apart", func(b []byte) []byte { return overwrite(26, 27)(overwrite(46, 47)(b)) }, all - 80, true},
		{"all but the header", func(b []byte) []byte { return overwrite(1, len(b)/pageSize)(b) }, 0, true},
		{"noise alone", func(b []byte) []byte { return overwrite(0, len(b)/pageSize)(b) }, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := damageable(t)
			sound, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			broken := c.damage(sound)
			if err := os.WriteFile(path, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			if c.late {
				meetDamage(t, path)
			}
			s := mustOpen(t, path)
			checkLoss(t, s, path, broken, c.least)
			checkSalvaged(t, s, c.least)
			s.Close()
			if again := mustOpen(t, path); again.Salvaged() != nil {
				t.Errorf("salvaged a second time: %v", again.Salvaged())
			}
		})
	}
}

// meetDamage reads everything; the damage must come up as such.
func meetDamage(t *testing.T, path string) {
	t.Helper()
	s := mustOpen(t, path)
	defer s.Close()
	if s.Salvaged() != nil {
		t.Fatal("opening alone found the damage; this case is for damage found later")
	}
	for i := range sessionsForDamage {
		if _, err := s.Load(t.Context(), session.ID(fmt.Sprint("s", i))); errors.Is(err, sessiondb.ErrDamaged) {
			if !strings.Contains(err.Error(), "start adze again") {
				t.Errorf("no next move: %v", err)
			}
			return
		}
	}
	t.Fatal("no session was damaged")
}

func checkLoss(t *testing.T, s *sessiondb.Store, path string, broken []byte, least int) {
	t.Helper()
	loss := s.Salvaged()
	if loss == nil {
		t.Fatal("nothing was salvaged")
	}
	t.Log(loss)
	if loss.Kept != path+".damaged-20260102T030405.000Z" {
		t.Errorf("kept as %s", loss.Kept)
	}
	if kept, err := os.ReadFile(loss.Kept); err != nil || !bytes.Equal(kept, broken) {
		t.Errorf("the old file was not kept as it was (%v)", err)
	}
	if loss.Entries < least {
		t.Errorf("%d entries came back, want %d", loss.Entries, least)
	}
	if lost := sessionsForDamage*entriesForDamage - loss.Entries; lost > 0 && len(loss.Missing) == 0 {
		t.Errorf("%d entries are lost and no line says so", lost)
	}
}

func checkSalvaged(t *testing.T, s *sessiondb.Store, least int) {
	t.Helper()
	heads, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	entries := 0
	for _, h := range heads {
		log, err := s.Load(t.Context(), h.ID)
		if err != nil {
			t.Fatal(err)
		}
		entries += len(log)
		_, err = s.Verify(t.Context(), h.ID)
		var bad *sessiondb.BadRow
		if whole := len(log) == entriesForDamage; whole && err != nil {
			t.Errorf("%s is whole, yet: %v", h.ID, err)
		} else if err != nil && !errors.As(err, &bad) {
			t.Errorf("%s: %v", h.ID, err)
		}
	}
	if entries < least {
		t.Errorf("%d entries can be read, want %d", entries, least)
	}
	fill(t, s, "new", 3)
	if n, err := s.Verify(t.Context(), "new"); n != 3 || err != nil {
		t.Errorf("a new session after the salvage: %d sound entries, %v", n, err)
	}
}

func TestSalvageWaitsForOthers(t *testing.T) {
	path := damageable(t)
	other := mustOpen(t, path)
	if err := os.WriteFile(path+".check", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// The file is sound, so the check alone passes while another process has it open.
	if s := mustOpen(t, path); s.Salvaged() != nil {
		t.Error("a sound file was salvaged")
	}
	if _, err := os.Stat(path + ".check"); err == nil {
		t.Error("the mark stayed")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, overwrite(0, 1)(b), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = sessiondb.Open(t.Context(), path, sessiondb.Options{Now: stopped})
	if err == nil || !strings.Contains(err.Error(), "another adze has it open") {
		t.Errorf("got %v", err)
	}
	other.Close()
}
