// Package workspace gives tools access to files; they use nothing else.
//
// The one rule: a name becomes a Path once, by Resolve, and every later step uses that Path through
// folder descriptors that never follow a link. So the file opened is the one shown to the user.
//
// Start reading at Root.Resolve (path.go), then Root.Open (file.go) and Root.Update (update.go).
// fs.go is the file-system interface, which tests make fail at the N-th operation (package failfs);
// atomic.go replaces files by renaming, lock.go serializes writers, seen.go records the files read
// by a session, similar.go suggests names.
//
// Known limits:
//   - A program that changes a file between the last check and the rename, within microseconds,
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

// HashLimit is the size in bytes up to which files are identified by SHA-256. Hashing takes about
// half a millisecond a megabyte; for larger files it would cost more than reading them.
const HashLimit = 8 << 20

// Options are for tests and configuration; the zero value is the normal one.
type Options struct {
	FS      FS     // if nil, the disk
	LockDir string // if "", RuntimeDir
	Home    string // expansion of ~; if "", os.UserHomeDir
}

// Root is an agent's working folder, fixed when opened. It is safe for concurrent use.
type Root struct {
	dir    string // absolute, without links
	top    Dir    // descriptor from which everything inside is opened
	stamp  Stamp
	fs     FS
	home   string
	locks  *locks
	staged atomic.Pointer[stage] // replaces top; may be nil
}

// Open opens dir as the workspace root.
func Open(dir string) (*Root, error) { return OpenWith(dir, Options{}) }

// OpenWith is Open with options.
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
	if r.top, err = r.openFolder(abs); err != nil { // fails if the path contains a link
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

// Close closes the root's descriptor.
func (r *Root) Close() error { return r.top.Close() }

// Dir returns the root's absolute path, without links.
func (r *Root) Dir() string { return r.dir }

// still returns an error if the root's path no longer leads to the opened folder.
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
