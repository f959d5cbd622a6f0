package sessiondb_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"adze/internal/osfile/filelock"
	"adze/internal/sessiondb"
	"adze/session"
)

// held is a lock of a session that pid seems to hold.
func held(t *testing.T, path string, pid int) (unlock func()) {
	t.Helper()
	must(t, os.MkdirAll(path+".locks", 0o700))
	lock := filepath.Join(path+".locks", "one")
	unlock, err := filelock.Try(lock)
	must(t, err)
	t.Cleanup(unlock)
	host, err := os.Hostname()
	must(t, err)
	must(t, os.WriteFile(lock, fmt.Appendf(nil, "pid %d on %s", pid, host), 0o600))
	return unlock
}

func opened(t *testing.T, path string, wait func(time.Duration)) *sessiondb.Store {
	t.Helper()
	s, err := sessiondb.Open(t.Context(), path, sessiondb.Options{Now: stopped, Wait: wait})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// Who was killed holds a lock until the kernel has taken it apart; that is waited for, and for
// longer when it is dead.
func TestTheLockOfAKilledProcessIsWaitedFor(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Skip(err)
	}
	for name, c := range map[string]struct{ pid, waits int }{"it is dying": {os.Getpid(), 20}, "it is dead": {dead.Process.Pid, 500}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			lock, waited := held(t, path, c.pid), 0
			s := opened(t, path, func(time.Duration) {
				if waited++; waited == c.waits {
					lock()
				}
			})
			if err := s.Append(t.Context(), "one", storeEntry(1)); err != nil || waited != c.waits {
				t.Errorf("%v after %d waits", err, waited)
			}
		})
	}
}

func TestTheLockOfALivingProcessIsNotWaitedForLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	held(t, path, os.Getpid())
	var waited time.Duration
	s := opened(t, path, func(d time.Duration) { waited += d })
	if err := s.Lock(t.Context(), "one"); !errors.Is(err, session.ErrLocked) {
		t.Errorf("err = %v", err)
	}
	if waited == 0 || waited > time.Second {
		t.Errorf("waited %s", waited)
	}
}
