//go:build linux

package fsnotify

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestABellRingsForWhatHappensInItsFolders(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	b, err := NewBell(one, two)
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func() error{
		func() error { return os.WriteFile(filepath.Join(one, "a"), nil, 0o600) },
		func() error { return os.WriteFile(filepath.Join(one, "a"), []byte("more"), 0o600) },
		func() error { return os.Rename(filepath.Join(one, "a"), filepath.Join(two, "a")) },
		func() error { return os.Remove(filepath.Join(two, "a")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		<-b.C
	}
	b.Close()
	for range b.C { // what was left, and the end
	}
}

// TestABellRingsForTheEndOfAWriter: a process that was killed closes its files, too.
func TestABellRingsForTheEndOfAWriter(t *testing.T) {
	dir := t.TempDir()
	writer := exec.Command("/bin/sh", "-c", "exec 3>f; echo open; exec sleep 1000")
	writer.Dir = dir
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Skip(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	b, err := NewBell(dir)
	if err != nil {
		t.Skip(err)
	}
	defer b.Close()
	select {
	case <-b.C:
		t.Fatal("it rang before anything happened")
	default:
	}
	if err := writer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-b.C
	_ = writer.Wait() // killed
}

func TestABellNeedsItsFolders(t *testing.T) {
	if _, err := NewBell(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrUnavailable) {
		t.Errorf("of a folder that is not there: %v", err)
	}
}
