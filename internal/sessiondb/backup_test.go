package sessiondb_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"adze/session"
)

// A backup is one moment of a store that others write to, and a store of its own.
func TestBackupWhileAnotherWrites(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	writing := mustOpen(t, path)
	fill(t, writing, "one", 20)
	stop, wrote := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := writing.Append(t.Context(), "two", storeEntry(n)); err != nil {
				t.Error(err)
				return
			}
			if n == 0 {
				close(wrote)
			}
		}
	})
	<-wrote
	look := mustLook(t, path)
	to := filepath.Join(dir, "backup", "b.db")
	must(t, os.Mkdir(filepath.Dir(to), 0o700))
	sessions, entries, err := look.Owner().Backup(t.Context(), to)
	close(stop)
	group.Wait()
	if err != nil || sessions != 2 || entries < 21 {
		t.Fatalf("%d sessions, %d entries, %v", sessions, entries, err)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if names := left(filepath.Dir(to)); names != "b.db" {
		t.Errorf("beside it lies %s", names)
	}
	if _, _, err := look.Owner().Backup(t.Context(), to); err == nil {
		t.Error("it took the place of a file")
	}
	b := mustOpen(t, to)
	for _, id := range []session.ID{"one", "two"} {
		if n, err := b.Verify(t.Context(), id); err != nil || n == 0 {
			t.Errorf("%s: %d, %v", id, n, err)
		}
	}
	fill(t, b, "three", 1) // it is a store
	if _, _, err := look.Owner().Backup(t.Context(), filepath.Join(dir, "none", "b.db")); err == nil {
		t.Error("a folder that is not there")
	}
	if err := look.Append(t.Context(), "one", storeEntry(1)); err == nil {
		t.Error("who looks cannot write")
	}
}
