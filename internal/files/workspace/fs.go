package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

// FS is the way to the file system: all of this package's reading and changing of files goes
// through it, so that a test can number the operations and make any one of them fail.
//
// An implementation promises:
//   - no method follows a symbolic link in the name it is given;
//   - Open and Create never block, also on a FIFO;
//   - Rename with replace false fails when to exists.
type FS interface {
	// OpenDir opens the top folder.
	OpenDir() (Dir, error)
}

// Drafts is what an FS may know beside: texts of files that the disk does not have yet.
type Drafts interface {
	// Drafts are such texts, by the absolute paths of their files: of those that are named, and of
	// those below a folder of which the FS knows one. What cannot be found out is left out.
	Drafts(ctx context.Context, below string, paths []string) map[string]string
}

// Drafts are the texts of files that the disk does not have yet, as far as the way to the file
// system knows of any; see Drafts.Drafts.
func (r *Root) Drafts(ctx context.Context, below string, paths []string) map[string]string {
	if d, ok := r.fs.(Drafts); ok {
		return d.Drafts(ctx, below, paths)
	}
	return nil
}

// HasDrafts reports whether there can be any.
func (r *Root) HasDrafts() bool {
	_, ok := r.fs.(Drafts)
	return ok
}

// Dir is an open folder. Names are single path parts.
type Dir interface {
	OpenDir(name string) (Dir, error)
	Open(name string) (File, error)
	Create(name string, perm fs.FileMode) (File, error) // exclusive; perm meets the umask
	Lstat(name string) (Info, error)
	Mkdir(name string) error
	Rename(from, to string, replace bool) error
	Remove(name string) error
	RemoveDir(name string) error
	Names(limit int) ([]string, error)
	Info() (Info, error)
	Sync() error
	Close() error
}

// File is an open regular file.
type File interface {
	ReadAt(p []byte, off int64) (int, error)
	Write(p []byte) (int, error)
	CopyFrom(src File, off, n int64) error // appends n bytes of src from off; short is an error
	Info() (Info, error)
	Keep(old Info, from File) error // gives this file the mode, owner and attributes of an older one
	Sync() error
	Close() error
}

// Info is what is known about an object without reading it.
type Info struct {
	Mode  fs.FileMode // type and permission bits
	Links uint64
	UID   uint32
	GID   uint32
	Stamp Stamp
	// MadeUp marks a file whose size and content the kernel makes up while it is read (/proc,
	// /sys). Only an open file knows.
	MadeUp bool
}

// Stamp changes whenever the file system notices a change. Times are in nanoseconds.
type Stamp struct {
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`
	Ctime int64  `json:"ctime"`
}

// bufferCopy is CopyFrom where no kernel copies.
func bufferCopy(dst, src File, off, n int64) error {
	buf := make([]byte, min(n, 256<<10))
	for n > 0 {
		part := buf[:min(n, int64(len(buf)))]
		if _, err := src.ReadAt(part, off); err != nil {
			return unexpected(err)
		}
		if _, err := dst.Write(part); err != nil {
			return err
		}
		off, n = off+int64(len(part)), n-int64(len(part))
	}
	return nil
}

// unexpected turns the end of a file that should have had more into an error of its own.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
