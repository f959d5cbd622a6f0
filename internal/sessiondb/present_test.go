package sessiondb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
			err := s.Append(t.Context(), "one", storeEntry(4))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("err = %v, want %s", err, c.says)
			}
			if err := s.Append(t.Context(), "one", storeEntry(5)); err == nil {
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
