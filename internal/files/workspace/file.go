package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
)

// chunk is the unit of reading: big enough to hide the call, small enough to notice an abort.
const chunk = 256 << 10

// Opened is a regular file open for reading.
type Opened struct {
	path Path
	info Info
	file File
}

// Open opens a regular file for reading. It never waits, whatever is there: a folder, FIFO, device,
// socket or a file that the kernel makes up is refused at once.
func (r *Root) Open(p Path) (*Opened, error) {
	if err := p.allowed(); err != nil {
		return nil, err
	}
	dir, leaf, err := r.parent(p)
	if err != nil {
		return nil, wrap(err, p.display, "open")
	}
	defer dir.Close()
	return openIn(dir, leaf, p)
}

// openIn looks before it opens, because opening alone can make a device act, and again after it,
// because what is there may have changed in between.
func openIn(dir Dir, leaf string, p Path) (*Opened, error) {
	info, err := dir.Lstat(leaf)
	if err != nil {
		return nil, wrap(err, p.display, "open")
	}
	if err := regular(info, p); err != nil {
		return nil, err
	}
	f, err := dir.Open(leaf)
	if err != nil {
		return nil, wrap(err, p.display, "open")
	}
	info, err = f.Info()
	if err == nil {
		err = regular(info, p)
	}
	if err == nil && info.MadeUp {
		err = fail(NotRegular, "%s is made up by the kernel while it is read; use bash: cat %s", p.given, p.given)
	}
	if err != nil {
		f.Close()
		return nil, wrap(err, p.display, "open")
	}
	return &Opened{path: p, info: info, file: f}, nil
}

func regular(info Info, p Path) error {
	kind := ""
	switch t := info.Mode.Type(); {
	case t == 0:
		return nil
	case t == fs.ModeDir:
		return fail(IsDirectory, "%s is a folder; name a file in it, or use list", p.display)
	case t == fs.ModeSymlink:
		return fail(Stale, "%s became a link while it was opened; try again", p.display)
	case t&fs.ModeNamedPipe != 0:
		kind = "a FIFO"
	case t&fs.ModeSocket != 0:
		kind = "a socket"
	default:
		kind = "a device"
	}
	return fail(NotRegular, "%s is %s, and only regular files can be read or written; name a regular file", p.display, kind)
}

// allowed refuses a path outside the workspace unless the gate's consent was noted on it.
func (p Path) allowed() error {
	if p.outside && !p.consented {
		return fail(Outside, "%s is outside the workspace; work on files inside it or ask the user", p.display)
	}
	if p.abs == "" {
		return fail(InvalidInput, "no path was given")
	}
	return nil
}

// Info is what was known when the file was opened.
func (o *Opened) Info() Info { return o.info }

// Size is the size in bytes when the file was opened.
func (o *Opened) Size() int64 { return o.info.Stamp.Size }

// ReadAt reads like io.ReaderAt.
func (o *Opened) ReadAt(p []byte, off int64) (int, error) { return o.file.ReadAt(p, off) }

// Close closes the file.
func (o *Opened) Close() error { return o.file.Close() }

// Head returns up to n bytes from the start, for finding out what kind of file it is.
func (o *Opened) Head(n int) ([]byte, error) {
	buf := make([]byte, min(int64(n), o.Size()))
	got, err := o.file.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, wrap(err, o.path.display, "read")
	}
	return buf[:got], nil
}

// Bytes returns the whole content; above limit bytes the error is TooLarge.
func (o *Opened) Bytes(ctx context.Context, limit int64) ([]byte, error) {
	if o.Size() > limit {
		return nil, fail(TooLarge, "%s has %d bytes, more than the %d this can take at once", o.path.display, o.Size(), limit)
	}
	buf := make([]byte, o.Size())
	for at := 0; at < len(buf); {
		if err := ctx.Err(); err != nil {
			return nil, aborted(err)
		}
		n, err := o.file.ReadAt(buf[at:min(at+chunk, len(buf))], int64(at))
		at += n
		if errors.Is(err, io.EOF) {
			return buf[:at], nil // it shrank meanwhile; its stamp tells
		}
		if err != nil {
			return nil, wrap(err, o.path.display, "read")
		}
	}
	return buf, nil
}

func aborted(err error) error {
	return &Error{Code: Aborted, Message: "stopped before it was done", Err: err}
}

// State identifies what content holds, if that is the whole file, or the file's stamp when content
// is nil.
func (o *Opened) State(content []byte) State {
	s := State{Path: o.path.abs, Mode: uint32(o.info.Mode.Perm()), Stamp: o.info.Stamp}
	if content != nil && len(content) <= HashLimit {
		sum := sha256.Sum256(content)
		s.SHA256 = hex.EncodeToString(sum[:])
	}
	return s
}

// parent opens the folder that holds p, part by part and without following links, and gives the
// last part's name.
func (r *Root) parent(p Path) (Dir, string, error) {
	base, leaf := filepath.Split(p.abs)
	if leaf == "" || p.abs == r.dir {
		return nil, "", fail(IsDirectory, "%s is a folder; name a file in it, or use list", p.display)
	}
	d, err := r.openFolder(filepath.Clean(base))
	return d, leaf, err
}

// openFolder walks to abs. Inside the workspace it starts from the root's own descriptor.
func (r *Root) openFolder(abs string) (Dir, error) {
	at, _, rest, err := r.start(abs)
	if err != nil {
		return nil, err
	}
	for _, part := range split(rest) {
		next, err := at.OpenDir(part)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// start gives a folder to begin the walk from, its absolute path, and the way from there to abs.
func (r *Root) start(abs string) (Dir, string, string, error) {
	rel, inside := below(r.dir, abs)
	if !inside || r.top == nil {
		d, err := r.fs.OpenDir()
		return d, machine, abs, err
	}
	d, err := r.openTop()
	if rel == "." {
		rel = ""
	}
	return d, r.dir, rel, err
}

// Names lists up to limit entries of the folder p, in no order; folders end in a slash.
func (r *Root) Names(p Path, limit int) ([]string, error) {
	if err := p.allowed(); err != nil {
		return nil, err
	}
	d, err := r.openFolder(p.abs)
	if err != nil {
		return nil, wrap(err, p.display, "list")
	}
	defer d.Close()
	names, err := d.Names(limit)
	if err != nil {
		return nil, wrap(err, p.display, "list")
	}
	for i, name := range names {
		if info, err := d.Lstat(name); err == nil && info.Mode.IsDir() {
			names[i] += "/"
		}
	}
	return names, nil
}

// Stat looks at p itself without opening it.
func (r *Root) Stat(p Path) (Info, error) {
	if err := p.allowed(); err != nil {
		return Info{}, err
	}
	if p.abs == r.dir {
		return r.topInfo()
	}
	if filepath.Dir(p.abs) == p.abs {
		return lstat(p.abs)
	}
	dir, leaf, err := r.parent(p)
	if err != nil {
		return Info{}, wrap(err, p.display, "look at")
	}
	defer dir.Close()
	info, err := dir.Lstat(leaf)
	if err != nil {
		return Info{}, wrap(err, p.display, "look at")
	}
	return info, nil
}

// gone reports that a look found nothing there.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
