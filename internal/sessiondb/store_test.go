package sessiondb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/sessiondb"
	"adze/session"
)

func TestContract(t *testing.T) {
	t.Run("wal", func(t *testing.T) {
		storeContract(t, backing(sessiondb.Options{}))
	})
	t.Run("network", func(t *testing.T) {
		storeContract(t, backing(sessiondb.Options{Network: func(string) bool { return true }}))
	})
	t.Run("memory", func(t *testing.T) {
		storeContract(t, func(*testing.T) storeBacking {
			m := sessiondb.NewMemory()
			return storeBacking{Open: func() (session.Store, error) { return m, nil }}
		})
	})
}

func backing(o sessiondb.Options) func(*testing.T) storeBacking {
	return func(t *testing.T) storeBacking {
		path := filepath.Join(t.TempDir(), "data", "sessions.db")
		return storeBacking{Durable: true, Open: func() (session.Store, error) {
			return sessiondb.Open(context.Background(), path, o)
		}}
	}
}

func stopped() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func mustOpen(t testing.TB, path string) *sessiondb.Store {
	t.Helper()
	s, err := sessiondb.Open(t.Context(), path, sessiondb.Options{Now: stopped})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func fill(t testing.TB, s session.Store, id session.ID, n int) {
	t.Helper()
	for i := range n {
		if err := s.Append(t.Context(), id, storeEntry(i+1)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOthersCannotReadTheFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a?b#c %20", "adze")
	path := filepath.Join(dir, "sessions.db")
	s := mustOpen(t, path)
	fill(t, s, "one", 2)
	for name, mode := range map[string]os.FileMode{
		dir: 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, path + ".lock": 0o600,
		path + ".locks": 0o700, path + ".locks/one": 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != mode {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), mode)
		}
	}
	s.Close()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a file that others can read stayed so: %v %v", info.Mode(), err)
	}
}

func TestNetworkFileSystemGetsNoSharedMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path) // made on a local disk, moved later
	fill(t, s, "one", 2)
	s.Close()
	s, err := sessiondb.Open(t.Context(), path, sessiondb.Options{Network: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fill(t, s, "two", 2)
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); err == nil {
			t.Errorf("%s is there", suffix)
		}
	}
	if n, err := s.Verify(t.Context(), "one"); n != 2 || err != nil {
		t.Errorf("the old session: %d sound entries, %v", n, err)
	}
}

func TestNewerVersionIsReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	fill(t, s, "one", 3)
	s.Close()
	edit(t, path, "PRAGMA user_version = 99")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	s = mustOpen(t, path)
	if log, err := s.Load(t.Context(), "one"); err != nil || len(log) != 3 {
		t.Errorf("%d entries, %v", len(log), err)
	}
	for name, err := range map[string]error{
		"append": s.Append(t.Context(), "one", storeEntry(4)), "lock": s.Lock(t.Context(), "two"),
	} {
		if !errors.Is(err, sessiondb.ErrReadOnly) || !strings.Contains(fmt.Sprint(err), "update adze") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Close()
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file was rewritten (%v)", err)
	}
}

func TestAnotherProgramsDatabaseIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	edit(t, path, "CREATE TABLE bookmarks (url TEXT)")
	_, err := sessiondb.Open(t.Context(), path, sessiondb.Options{})
	if err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("got %v", err)
	}
}

func TestSecondWriterLearnsWhoIsFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	first, second := mustOpen(t, path), mustOpen(t, path)
	fill(t, first, "one", 1)
	err := second.Lock(t.Context(), "one")
	host, _ := os.Hostname()
	for _, part := range []string{fmt.Sprintf("pid %d on %s", os.Getpid(), host), "--fork"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}
