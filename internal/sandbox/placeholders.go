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

// placeholders are the empty folders that stand in the workspace where something protected is not
// there yet, while commands run. They are counted in this process and across processes: to remove
// one takes its mount away from every sandbox. Each process has a file with the folders that it
// needs, which it holds locked; what is in a file that nobody holds was left by a process that was
// killed.
//
// Only empty folders are ever removed, and only those that such a file names.
type placeholders struct {
	dir string // of the files

	mu    sync.Mutex
	file  *os.File       // this process's; if nil, no command needs any
	users map[string]int // running commands by folder
	ours  []string       // what the file names
	later *time.Timer    // until they are removed
}

// Stands reports that a path is one of the folders that stand in the workspace only as long as
// commands run.
func (s *Sandbox) Stands(path string) bool {
	s.held.mu.Lock()
	defer s.held.mu.Unlock()
	return slices.Contains(s.held.ours, path)
}

func heldDir(state string) string { return filepath.Join(state, "sandbox", "held") }

// hold makes the folders that are missing, and returns what lets go of them. One that stands, as it
// was seen a moment ago, need not be made where it is noted already, because nobody removes it
// then.
func (h *placeholders) hold(missing []string, stands func(string) bool) (release func(), err error) {
	if len(missing) == 0 {
		return func() {}, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.later != nil {
		h.later.Stop()
	}
	if h.users == nil {
		h.users = map[string]int{}
	}
	noted := slices.Clone(h.ours)
	if err := h.note(missing); err != nil {
		return nil, fmt.Errorf("cannot note what the sandbox makes in the workspace: %w", err)
	}
	for _, path := range missing {
		if slices.Contains(noted, path) && stands(path) {
			continue
		}
		if err := os.Mkdir(path, 0o555); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("cannot protect %s, which does not exist yet: %w", path, err)
		}
	}
	for _, path := range missing {
		h.users[path]++
	}
	return func() { h.release(missing) }, nil
}

// note writes the folders down before they are made. From then on no other process removes them.
func (h *placeholders) note(missing []string) error {
	before := len(h.ours)
	for _, path := range missing {
		if !slices.Contains(h.ours, path) {
			h.ours = append(h.ours, path)
		}
	}
	if len(h.ours) == before {
		return nil
	}
	free, err := h.lock()
	if err != nil {
		return err
	}
	defer free()
	if h.file == nil {
		f, err := os.CreateTemp(h.dir, "held-*")
		if err != nil {
			return err
		}
		if err := filelock.TryFile(f); err != nil {
			return errors.Join(err, f.Close())
		}
		h.file = f
	}
	return h.write()
}

func (h *placeholders) write() error {
	data, err := json.Marshal(h.ours)
	if err != nil {
		return err
	}
	if err := h.file.Truncate(0); err != nil {
		return err
	}
	_, err = h.file.WriteAt(data, 0)
	return err
}

func (h *placeholders) release(missing []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, path := range missing {
		if h.users[path]--; h.users[path] <= 0 {
			delete(h.users, path)
		}
	}
	if len(h.users) > 0 {
		return
	}
	if h.later == nil {
		h.later = time.AfterFunc(lingerTime, h.close)
		return
	}
	h.later.Reset(lingerTime)
}

// lingerTime is how long the folders stay after the last command: commands come one after the
// other, and to make a dozen folders for each takes half a millisecond.
const lingerTime = 500 * time.Millisecond

// close removes what is left although no command runs, also by a process that was killed, of a run
// that needed none.
func (h *placeholders) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.users) > 0 || h.file == nil && !h.leftovers() {
		return
	}
	if free, err := h.lock(); err == nil {
		h.tidy()
		free()
	}
}

// leftovers reports that other processes have noted folders.
func (h *placeholders) leftovers() bool {
	entries, _ := os.ReadDir(h.dir)
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != lockName })
}

// tidy removes the folders that no command needs any more, here or in another process. The lock of
// the folder is held.
func (h *placeholders) tidy() {
	var done, needed []string
	for path := range h.users {
		needed = append(needed, path)
	}
	for _, path := range h.ours {
		if h.users[path] == 0 {
			done = append(done, path)
		}
	}
	others, left := h.others()
	needed, done = append(needed, others...), append(done, left...)
	for _, path := range done {
		if !slices.Contains(needed, path) {
			_ = unix.Rmdir(path) // fails where somebody has put something in
		}
	}
	h.ours = slices.DeleteFunc(h.ours, func(path string) bool { return h.users[path] == 0 })
	if h.file != nil && len(h.ours) == 0 {
		_ = os.Remove(h.file.Name())
		_ = h.file.Close()
		h.file = nil
	}
}

// others reads the files of other processes: what those need that live, and what the dead have
// left, whose files are removed.
func (h *placeholders) others() (needed, left []string) {
	entries, _ := os.ReadDir(h.dir)
	for _, e := range entries {
		path := filepath.Join(h.dir, e.Name())
		if h.file != nil && path == h.file.Name() || e.Name() == lockName {
			continue
		}
		f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		var paths []string
		_ = json.NewDecoder(f).Decode(&paths)
		if filelock.TryFile(f) == nil {
			left = append(left, paths...)
			_ = os.Remove(path)
		} else {
			needed = append(needed, paths...)
		}
		_ = f.Close()
	}
	return needed, left
}

const lockName = "lock"

// lock keeps other processes out while folders are made or removed.
func (h *placeholders) lock() (free func(), err error) {
	open := func() (*os.File, error) {
		return os.OpenFile(filepath.Join(h.dir, lockName), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	}
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(h.dir, 0o700) == nil {
		f, err = open()
	}
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
