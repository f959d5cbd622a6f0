package sessiondb_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/sessiondb"
	"adze/session"
)

func mustLook(t *testing.T, path string) *sessiondb.Store {
	t.Helper()
	s, err := sessiondb.Look(t.Context(), path, sessiondb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestLookingMakesNothing(t *testing.T) {
	dir := t.TempDir()
	s := mustLook(t, filepath.Join(dir, "state", "s.db"))
	if heads, err := s.List(t.Context()); err != nil || len(heads) > 0 {
		t.Errorf("%v, %v", heads, err)
	}
	if _, err := s.Load(t.Context(), "one"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("err = %v", err)
	}
	must(t, s.Close())
	if got := left(dir); got != "" {
		t.Errorf("it made %s", got)
	}
}

// TestLookingAtAFileWithoutTables: the first process that makes the file may be killed, or be seen,
// before they are there.
func TestLookingAtAFileWithoutTables(t *testing.T) {
	for name, begin := range map[string]string{"empty": "", "without a page": "PRAGMA journal_mode = WAL", "with a log": "PRAGMA journal_mode = WAL; CREATE TABLE t (a); DROP TABLE t"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			must(t, os.WriteFile(path, nil, 0o600))
			if begin != "" {
				db, err := sql.Open("sqlite", path)
				must(t, err)
				defer db.Close()
				_, err = db.ExecContext(t.Context(), begin)
				must(t, err)
			}
			if heads, err := mustLook(t, path).List(t.Context()); err != nil || len(heads) > 0 {
				t.Errorf("%v, %v", heads, err)
			}
			s := mustOpen(t, path)
			fill(t, s, "one", 5)
			must(t, s.Close())
			if n, err := mustLook(t, path).Verify(t.Context(), "one"); n != 5 || err != nil {
				t.Errorf("%d sound, %v", n, err)
			}
		})
	}
}

// A database is read as it is, with the log that a run has left or still writes, also where nothing
// may be written.
func TestLookingReadsWhatIsThere(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, path string, s *sessiondb.Store){
		"while another writes": func(*testing.T, string, *sessiondb.Store) {},
		"a log was left":       func(t *testing.T, _ string, s *sessiondb.Store) { must(t, s.Close()) },
		"no log":               func(t *testing.T, path string, s *sessiondb.Store) { must(t, s.Close()); fold(t, path) },
		"a log without its index": func(t *testing.T, path string, s *sessiondb.Store) {
			must(t, s.Close())
			must(t, os.Remove(path+"-shm"))
		},
	} {
		for _, mode := range []os.FileMode{0o700, 0o500} {
			t.Run(name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "state")
				path := filepath.Join(dir, "s.db")
				s := mustOpen(t, path)
				fill(t, s, "one", 5)
				prepare(t, path, s)
				must(t, os.Chmod(dir, mode))
				t.Cleanup(func() { os.Chmod(dir, 0o700) })
				look := mustLook(t, path)
				if n, err := look.Verify(t.Context(), "one"); n != 5 || err != nil {
					t.Errorf("%d sound, %v", n, err)
				}
				if err := look.Append(t.Context(), "one", storeEntry(6)); !errors.Is(err, sessiondb.ErrReadOnly) {
					t.Errorf("append: %v", err)
				}
				if heads, err := look.List(t.Context()); len(heads) != 1 || err != nil {
					t.Errorf("%v, %v", heads, err)
				}
			})
		}
	}
}
