// Package workspace is the only way a tool touches files.
//
// The one rule: a name becomes a Path once, by Resolve, and every later step works on that Path
// through folder descriptors that never follow a link. What a user was shown is what is opened.
//
// Start reading at Root.Resolve (path.go), then Root.Open (file.go) and Root.Update (update.go).
// Around them: fs.go is the small file-system interface that tests make fail at the N-th operation
// (package failfs), disk.go its real side, atomic.go the replace-by-rename, lock.go the lock that
// makes writers of one path wait for each other, seen.go what a session has read, similar.go the
// names offered when one is not found.
//
// There are more files here than elsewhere because each is one fact about files that must not leak
// into a tool.
//
// Known limits:
//   - A program that changes a file between our last look and the rename, within microseconds,
//     loses its change; no portable call compares and renames at once.
//   - Files above HashLimit are compared by inode, size and change time, not by content.
//   - A temporary file left by a power cut stays until somebody deletes it; one left by a crash is
//     removed by the next write that uses the same lock.
//   - A bare repository's own config and hooks (outside any .git folder) are not protected names.
package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
)

// HashLimit is the size in bytes up to which a file's identity is its SHA-256. Hashing takes about
// half a millisecond a megabyte, so that a read of a larger file would pay more for it than for the
// read.
const HashLimit = 8 << 20

// Options changes what Open uses; the zero value is right outside tests.
type Options struct {
	FS      FS     // if nil, the disk
	LockDir string // if "", a folder of this user that does not outlive a reboot, see RuntimeDir
	Home    string // what ~ stands for; if "", os.UserHomeDir
}

// Root is the folder an agent works in, fixed when it was opened. It is safe for concurrent use.
type Root struct {
	dir    string // absolute, free of links
	top    Dir    // the descriptor that everything inside is reached from
	stamp  Stamp
	fs     FS
	home   string
	locks  *locks
	staged atomic.Pointer[stage] // where what is below dir is looked at instead; if nil, there
}

// Open fixes dir as the workspace root.
func Open(dir string) (*Root, error) { return OpenWith(dir, Options{}) }

// OpenWith is Open with the parts that tests and configuration replace.
func OpenWith(dir string, o Options) (*Root, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, wrap(err, dir, "open workspace")
	}
	if o.FS == nil {
		o.FS = Disk{}
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir()
	}
	r := &Root{dir: abs, fs: o.FS, home: o.Home, locks: &locks{dir: o.LockDir, slots: map[int]chan struct{}{}}}
	if r.top, err = r.openFolder(abs); err != nil { // a link is on the way: the walk follows none
		if r.dir, err = filepath.EvalSymlinks(abs); err == nil {
			r.top, err = r.openFolder(r.dir)
		}
	}
	if err != nil {
		return nil, wrap(err, dir, "open workspace")
	}
	info, err := r.top.Info()
	if err != nil {
		return nil, errors.Join(wrap(err, dir, "open workspace"), r.top.Close())
	}
	r.stamp = info.Stamp
	return r, nil
}

// Close gives the root's descriptor back.
func (r *Root) Close() error { return r.top.Close() }

// Dir is the root's absolute path, free of links.
func (r *Root) Dir() string { return r.dir }

// still reports whether the folder at the root's path is the one that was opened.
func (r *Root) still() error {
	info, err := lstat(r.dir)
	if err != nil {
		return wrap(err, r.dir, "open workspace")
	}
	if info.Stamp.Dev != r.stamp.Dev || info.Stamp.Ino != r.stamp.Ino {
		return fail(IO, "the workspace folder %s was moved or replaced; start again in the new one", r.dir)
	}
	return nil
}
