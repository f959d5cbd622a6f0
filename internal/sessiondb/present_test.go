package sessiondb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sessiondb"
	"adze/internal/testkit/storetest"
)

// What is written to files that nobody will find again is not saved.
func TestFilesThatGoAwayEndTheSaving(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(dir string) error
		says string
	}{
		"the folder is removed":   {os.RemoveAll, "folder was removed"},
		"the database is removed": {func(dir string) error { return os.Remove(dir + "/s.db") }, "it was removed"},
		"the log is removed":      {func(dir string) error { return os.Remove(dir + "/s.db-wal") }, "s.db-wal was removed"},
		"another file is there":   {func(dir string) error { return replace(dir + "/s.db") }, "another file"},
		"the folder is read-only": {func(dir string) error { return os.Chmod(dir, 0o500) }, "read-only"},
		"the database is":         {func(dir string) error { return os.Chmod(dir+"/s.db", 0o400) }, "read-only"},
		"another folder is put there": {func(dir string) error {
			if err := os.Rename(dir, dir+"-away"); err != nil {
				return err
			}
			return os.Mkdir(dir, 0o700)
		}, "it was removed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			s := mustOpen(t, filepath.Join(dir, "s.db"))
			fill(t, s, "one", 3)
			if err := c.do(dir); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(dir, 0o700) })
			err := s.Append(t.Context(), "one", storetest.Entry(4))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("err = %v, want %s", err, c.says)
			}
			if err := s.Append(t.Context(), "one", storetest.Entry(5)); err == nil {
				t.Error("the next entry was taken")
			}
		})
	}
}

func replace(path string) error {
	raw, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	return err
}

// A log that is lost or damaged takes the newest entries with it, and SQLite says nothing.
func TestALostOrDamagedLogIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T, log string)
		says []string
	}{
		"lost":              {func(t *testing.T, log string) { must(t, os.Remove(log)) }, []string{"missing"}},
		"emptied":           {func(t *testing.T, log string) { must(t, os.Truncate(log, 0)) }, []string{"missing"}},
		"cut":               {func(t *testing.T, log string) { must(t, os.Truncate(log, 6000)) }, []string{"damaged", "a copy is kept as"}},
		"its header broken": {func(t *testing.T, log string) { flip(t, log, 9) }, []string{"damaged", "a copy is kept as"}},
		"a frame broken":    {func(t *testing.T, log string) { flip(t, log, 5000) }, []string{"damaged", "a copy is kept as"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			s := mustOpen(t, path)
			fill(t, s, "one", 3)
			must(t, s.Close())
			fold(t, path)
			s = mustOpen(t, path)
			fill(t, s, "two", 12)
			path = crashed(t, path)
			c.do(t, path+"-wal")
			var said string
			for _, open := range []func() (*sessiondb.Store, error){
				func() (*sessiondb.Store, error) {
					return sessiondb.Look(t.Context(), path, sessiondb.Options{Now: stopped})
				},
				func() (*sessiondb.Store, error) {
					return sessiondb.Open(t.Context(), path, sessiondb.Options{Now: stopped})
				},
			} {
				s, err := open()
				if err != nil {
					t.Fatal(err)
				}
				said = strings.Join(s.Notices(), "\n")
				if !strings.Contains(said, "two had 12 entries") || !strings.Contains(said, path+"-wal") || !strings.Contains(said, c.says[0]) {
					t.Errorf("said %q, want %q", said, c.says)
				}
				must(t, s.Close())
			}
			if !strings.Contains(said, c.says[len(c.says)-1]) {
				t.Errorf("said %q, want %q", said, c.says)
			}
		})
	}
}

// crashed is what a kill leaves of an open database: closing it copies the log into it.
func crashed(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	for _, suffix := range []string{"", "-wal", ".last"} {
		raw, err := os.ReadFile(path + suffix)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "s.db"+suffix), raw, 0o600))
	}
	return filepath.Join(dir, "s.db")
}

// A log that another program has folded in is not lost, and neither is one that a crash has left.
func TestAFoldedLogIsNotLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	fill(t, s, "one", 3)
	for _, after := range []func(string){func(string) {}, func(path string) { fold(t, path) }} {
		path := crashed(t, path)
		after(path)
		if s := mustOpen(t, path); len(s.Notices()) > 0 {
			t.Errorf("said %q", s.Notices())
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func flip(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	b := make([]byte, 1)
	_, err = f.ReadAt(b, at)
	must(t, err)
	_, err = f.WriteAt([]byte{b[0] ^ 0xff}, at)
	must(t, err)
}
