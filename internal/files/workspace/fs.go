package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

// FS is the file system behind all reads and writes in this package. Tests number its operations
// and make any of them fail.
//
// An implementation guarantees:
//   - no method follows a symbolic link in the name it is given;
//   - Open and Create never block, also on a FIFO;
//   - Rename with replace false fails when to exists.
type FS interface {
	OpenDir() (Dir, error)
}

// Drafts is an optional FS extension for unsaved texts, which are not on disk yet.
type Drafts interface {
	// Drafts returns unsaved texts by absolute path: those for the given paths, and all that the FS
	// knows below a folder. Texts it cannot obtain are omitted.
	Drafts(ctx context.Context, below string, paths []string) map[string]string
}

// Drafts returns the unsaved texts known to the FS, or nil; see Drafts.Drafts.
func (r *Root) Drafts(ctx context.Context, below string, paths []string) map[string]string {
	if d, ok := r.fs.(Drafts); ok {
		return d.Drafts(ctx, below, paths)
	}
	return nil
}

// HasDrafts reports whether the FS supports unsaved texts.
func (r *Root) HasDrafts() bool {
	_, ok := r.fs.(Drafts)
	return ok
}

// Dir is an open folder. Names are single path elements.
type Dir interface {
	OpenDir(name string) (Dir, error)
	Open(name string) (File, error)
	Create(name string, perm fs.FileMode) (File, error) // exclusive; perm is subject to the umask
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
	CopyFrom(src File, off, n int64) error // appends n bytes from src at off; fewer are an error
	Info() (Info, error)
	Keep(old Info, from File) error // copies mode, owner and attributes from an older file
	Sync() error
	Close() error
}

// Info is a file's metadata.
type Info struct {
	Mode  fs.FileMode // type and permission bits
	Links uint64
	UID   uint32
	GID   uint32
	Stamp Stamp
	// MadeUp marks a file whose content the kernel generates on reading (/proc, /sys). It is only
	// set for open files.
	MadeUp bool
}

// Stamp changes whenever the file system records a change. Times are in nanoseconds.
type Stamp struct {
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`
	Ctime int64  `json:"ctime"`
}

// bufferCopy implements CopyFrom without the kernel.
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

// unexpected converts io.EOF to io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
