package filelock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/osfile/filelock"
)

func TestOneHoldsTheFileAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := filelock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{"Try": second(filelock.Try(path)), "TryFile": filelock.TryFile(f)} {
		if !errors.Is(err, filelock.ErrHeld) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{"Wait": second(filelock.Wait(over, path)), "Share": second(filelock.Share(over, path))} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	unlock()
	if err := filelock.TryFile(f); err != nil {
		t.Error(err)
	}
}

func TestWaitAndShare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	one, err := filelock.Share(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	two, err := filelock.Share(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		unlock, err := filelock.Wait(context.Background(), path)
		if err == nil {
			defer unlock()
		}
		got <- err
	}()
	one()
	if err := second(filelock.Try(path)); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("while it is shared: %v", err)
	}
	two()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func second(_ func(), err error) error { return err }
