package fsnotify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAnEntryWaiterWakes for files that come and go, on each system that tells of them.
func TestAnEntryWaiterWakes(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	b, err := newEntryBell(one, two)
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	b.Close()
	next, end := EntryWaiter(time.Hour, one, two)
	for _, change := range []func() error{
		func() error { return os.WriteFile(filepath.Join(one, "a"), nil, 0o600) },
		func() error { return os.Rename(filepath.Join(one, "a"), filepath.Join(two, "a")) },
		func() error { return os.Remove(filepath.Join(two, "a")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if err := next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	end()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	next, end = EntryWaiter(time.Hour, one)
	defer end()
	if err := next(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is over: %v", err)
	}
}

func TestAnEntryBellNeedsItsFolders(t *testing.T) {
	if _, err := newEntryBell(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("it watches a folder that is not there")
	}
}
