package sessiondb_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/session"
)

// fold moves the log into the database and removes it, as any SQLite program does.
func fold(t *testing.T, path string) {
	t.Helper()
	edit(t, path, "PRAGMA wal_checkpoint(TRUNCATE)")
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Fatal("the log is still there")
	}
}

func left(dir string) string {
	var names []string
	for _, pattern := range []string{"*", "*/*"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, f := range found {
			names = append(names, strings.TrimPrefix(f, dir+"/"))
		}
	}
	return strings.Join(names, " ")
}

func TestCloseLeavesTheDatabaseAndAShortLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	for _, c := range []struct{ entries, size int }{{3, 10}, {3, 10}, {300, 3000}, {3, 10}} {
		s := mustOpen(t, path)
		id := session.NewID(stopped())
		for i := range c.entries {
			e := storeEntry(i)
			e.Data = []byte(`"` + strings.Repeat("x", c.size) + `"`)
			if err := s.Append(t.Context(), id, e); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		want := "s.db s.db-shm s.db-wal s.db.lock s.db.locks"
		if c.entries > 100 {
			want = "s.db s.db.lock s.db.locks" // the log was long
		}
		if got := left(dir); got != want {
			t.Errorf("after %d entries: left %s, want %s", c.entries, got, want)
		}
	}
}

// TestKeptLogNeedsNoSyncOfTheDatabase plays a power cut after Close: of what Close copied from the
// log into the database nothing, or only torn pages, reached the disk.
func TestKeptLogNeedsNoSyncOfTheDatabase(t *testing.T) {
	for name, cut := range map[string]func(before, after []byte) []byte{
		"nothing arrived": func(before, _ []byte) []byte { return before },
		"only the length arrived": func(before, after []byte) []byte {
			return append(before, make([]byte, len(after)-len(before))...)
		},
		"every page is torn": func(before, after []byte) []byte {
			torn := append([]byte(nil), before...)
			for at := 0; at < len(after); at += pageSize {
				if at < len(before) && bytes.Equal(before[at:at+pageSize], after[at:at+pageSize]) {
					continue // it is not in the log, and was on the disk before
				}
				torn = append(torn[:at], append(append([]byte(nil), after[at:at+pageSize/2]...), make([]byte, pageSize/2)...)...)
			}
			return torn
		},
	} {
		for _, old := range []int{0, 40} {
			t.Run(name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "s.db")
				s := mustOpen(t, path)
				if old > 0 {
					fill(t, s, "old", old)
					s.Close()
					fold(t, path)
					s = mustOpen(t, path)
				}
				before := read(t, path)
				fill(t, s, "one", 20)
				s.Close()
				after := read(t, path)
				if err := os.WriteFile(path, cut(before, after), 0o600); err != nil {
					t.Fatal(err)
				}
				s = mustOpen(t, path)
				if s.Salvaged() != nil {
					t.Error(s.Salvaged())
				}
				if n, err := s.Verify(t.Context(), "one"); n != 20 || err != nil {
					t.Errorf("%d of 20 entries are sound, %v", n, err)
				}
				if n, err := s.Verify(t.Context(), "old"); old > 0 && (n != old || err != nil) {
					t.Errorf("%d of %d old entries are sound, %v", n, old, err)
				}
			})
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
