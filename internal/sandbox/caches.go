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

// keptCaches is the time after which a workspace's unused private caches are deleted. Their size is
// left to the build tools, as outside the sandbox.
const keptCaches = 30 * 24 * time.Hour

// caches manages the private caches of all workspaces, one folder each.
type caches struct {
	root          string
	workspaceName string // this workspace's name
	now           func() time.Time
}

// begin holds this workspace's cache until the file is closed. It returns nil on errors.
func (c caches) begin() *os.File {
	dir := filepath.Join(c.root, c.workspaceName)
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

// trim removes caches unused for keptCaches, except those held by another adze.
func (c caches) trim() {
	entries, _ := os.ReadDir(c.root)
	for _, e := range entries {
		dir := filepath.Join(c.root, e.Name())
		info, err := e.Info()
		if err != nil || !e.IsDir() || e.Name() == c.workspaceName || c.now().Sub(info.ModTime()) < keptCaches {
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
