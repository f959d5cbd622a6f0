package sessiondb_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"adze/internal/sessiondb"
)

// limitFileSize makes every write beyond 200 KiB of a file fail, as a full disk does.
func limitFileSize(string) {
	signal.Ignore(syscall.SIGXFSZ)
	limit := unix.Rlimit{Cur: 200 << 10, Max: 200 << 10}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
}

func TestFailedWriteIsNeverCalledSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	last, rest := start(t, "small-disk", path, "one").acknowledged(t, -1)
	if last == 0 || len(rest) != 2 {
		t.Fatalf("stopped at %d: %v", last, rest)
	}
	if !strings.Contains(rest[0], "disk") || !strings.Contains(rest[0], "free s") {
		t.Errorf("the failure does not say what to do: %s", rest[0])
	}
	if !strings.Contains(rest[1], sessiondb.ErrNotSaved.Error()) {
		t.Errorf("the next append was not refused: %s", rest[1])
	}
	s := mustOpen(t, path)
	if n, err := s.Verify(t.Context(), "one"); n != last || err != nil {
		t.Errorf("%d were acknowledged, %d are there, %v", last, n, err)
	}
	if err := s.Append(t.Context(), "one", storeEntry(last+1)); err != nil {
		t.Errorf("going on with room again: %v", err)
	}
}

// TestFolderWithoutPermission runs as somebody who may not write there, also when the tests run as
// root.
func TestFolderWithoutPermission(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // not unlocked: the thread ends with this goroutine
	if os.Geteuid() == 0 {
		if err := unix.Setfsuid(65534); err != nil {
			t.Skip("cannot act as another user:", err)
		}
		defer unix.Setfsuid(0)
	}
	for _, path := range []string{filepath.Join(dir, "s.db"), filepath.Join(dir, "deeper", "s.db")} {
		_, err := sessiondb.Open(t.Context(), path, sessiondb.Options{})
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(fmt.Sprint(err), "writable for you") || !strings.Contains(fmt.Sprint(err), "XDG_STATE_HOME") || !strings.Contains(fmt.Sprint(err), "--no-session") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
