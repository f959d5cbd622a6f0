//go:build unix

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/osfile/filelock"
)

// running is the record of a command on the live tree. Its process holds the file locked. An
// unlocked file was left by a killed process, and the next start reports what its command left.
//
// Made lists the empty folders that stand in for missing protected places. Removing one would
// unmount it in every sandbox, so each stays until no record names it. Only empty folders named in
// a record are ever removed.
type running struct {
	Workspace    string
	Started      time.Time
	Repositories []string // in the workspace before the command
	Made         []string // empty folders
}

// notes manages the records of this process's commands and counts the users of each placeholder
// folder.
type notes struct {
	dir   string
	mu    sync.Mutex
	users map[string]int
}

// IsPlaceholder reports whether a path is a placeholder folder of running commands.
func (s *Sandbox) IsPlaceholder(path string) bool { return s.notes.counted(path) > 0 }

func (n *notes) counted(path string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.users[path]
}

func (n *notes) count(paths []string, by int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.users == nil {
		n.users = map[string]int{}
	}
	for _, path := range paths {
		n.users[path] += by
	}
}

func runningDir(state string) string { return filepath.Join(state, "sandbox", "running") }

// begin writes a command's record and makes its folders; end removes both.
func (n *notes) begin(r running) (end func(), err error) {
	free, err := lockNotes(n.dir)
	if err != nil {
		return nil, err
	}
	defer free()
	f, err := os.CreateTemp(n.dir, "")
	if err != nil {
		return nil, err
	}
	n.count(r.Made, 1)
	remove := func() {
		_ = os.Remove(f.Name())
		_ = f.Close()
		r.tidy(n.dir)
		n.count(r.Made, -1)
	}
	err = filelock.TryFile(f)
	if err == nil {
		err = json.NewEncoder(f).Encode(r)
	}
	for _, path := range r.Made {
		if err == nil {
			err = os.Mkdir(path, 0o555)
		}
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if err != nil {
		remove()
		return nil, fmt.Errorf("cannot protect what does not exist yet: %w", err)
	}
	return func() {
		if free, err := lockNotes(n.dir); err == nil {
			defer free()
		}
		remove()
	}, nil
}

// tidy removes the folders named by no other record. The caller holds the lock.
func (r *running) tidy(dir string) {
	var needed []string
	eachNote(dir, func(_ string, other running, held bool) {
		if held {
			needed = append(needed, other.Made...)
		}
	})
	for _, path := range r.Made {
		if !slices.Contains(needed, path) {
			_ = unix.Rmdir(path) // fails if it is not empty
		}
	}
}

// eachNote reads the records. held means a running command.
func eachNote(dir string, do func(path string, r running, held bool)) {
	entries, _ := os.ReadDir(dir) // the folder may not exist
	for _, e := range entries {
		if e.Name() == lockName {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		var r running
		if json.NewDecoder(f).Decode(&r) == nil {
			do(path, r, filelock.TryFile(f) != nil)
		}
		_ = f.Close()
	}
}

// left reports dangerous files left in a workspace by killed processes' commands, and removes their
// placeholder folders.
func left(state, workspace string) (told []string, err error) {
	dir := runningDir(state)
	if _, there := lookAt(dir); !there {
		return nil, nil
	}
	free, err := lockNotes(dir)
	if err != nil {
		return nil, err
	}
	defer free()
	eachNote(dir, func(path string, r running, held bool) {
		if held || r.Workspace != workspace {
			return
		}
		err = errors.Join(err, os.Remove(path))
		r.tidy(dir)
		for _, text := range r.planted(func(string) bool { return false }, true) {
			told = append(told, "since a command ran when adze was killed: "+text)
		}
	})
	return told, err
}

const lockName = "lock"

// lockNotes keeps other commands out while folders are made or removed.
func lockNotes(dir string) (free func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
