//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/osfile/filelock"
	"adze/internal/sandbox/overlay/entry"
)

// keptCaches is how long the private caches of a workspace are kept after their last use. Build
// tools bound what is in them themselves, or nothing does, inside the sandbox as outside.
const keptCaches = 30 * 24 * time.Hour

// caches are the private caches of all workspaces, a folder each.
type caches struct {
	root string // the folder of all of them
	own  string // the name of this workspace's
	now  func() time.Time
}

// begin takes the own cache into use until the file is closed; if nil, it cannot be taken.
func (c caches) begin() *os.File {
	dir := filepath.Join(c.root, c.own)
	if os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	f, err := os.OpenFile(dir+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil
	}
	_ = os.Chtimes(dir, time.Time{}, c.now())
	_ = unix.Flock(int(f.Fd()), unix.LOCK_SH)
	return f
}

// trim removes the caches that nobody has used for long. Those that another adze uses stay.
func (c caches) trim() {
	entries, _ := os.ReadDir(c.root)
	for _, e := range entries {
		dir := filepath.Join(c.root, e.Name())
		info, err := e.Info()
		if err != nil || !e.IsDir() || e.Name() == c.own || c.now().Sub(info.ModTime()) < keptCaches {
			continue
		}
		if lock, err := os.OpenFile(dir+".lock", os.O_RDWR|os.O_CREATE, 0o600); err == nil {
			if filelock.TryFile(lock) == nil {
				_ = entry.RemoveAll(dir)
				_ = os.Remove(lock.Name())
			}
			_ = lock.Close()
		}
	}
}
