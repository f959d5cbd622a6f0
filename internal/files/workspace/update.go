package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Splice replaces Len bytes at Offset in the old file by Data.
type Splice struct {
	Offset, Len int64
	Data        []byte
}

// Current is a file while its lock is held.
type Current struct {
	*Opened // nil if the file does not exist
	Exists  bool
}

// Written describes a finished update.
type Written struct {
	State   State
	Created bool
	Bytes   int64
	Notes   []string // notes for the user, such as a broken hard link
}

// Update changes a file, or creates it with any missing folders. It holds the path's lock while
// change examines the current content and returns splices in ascending order. The result is the old
// file or the new one, never a mixture; after an error it is the old one and nothing else is left
// behind.
func (r *Root) Update(ctx context.Context, p Path, change func(*Current) ([]Splice, error)) (Written, error) {
	if err := p.writable(); err != nil {
		return Written{}, err
	}
	dir, leaf, made, err := r.makeParent(p)
	if err != nil {
		return Written{}, wrap(err, p.display, "write")
	}
	w, err := r.locked(ctx, place{dir, leaf, p}, change)
	dir.Close() // first, since some systems do not remove open folders
	if err != nil {
		r.unmake(made)
		return w, wrap(err, p.display, "write")
	}
	if err := r.syncParents(made); err != nil {
		w.Notes = append(w.Notes, unsynced)
	}
	return w, nil
}

const unsynced = "the folder could not be synced to disk; a power cut now may undo this write"

func (p Path) writable() error {
	if err := p.allowed(); err != nil {
		return err
	}
	if p.protected {
		return fail(Protected, "%s is protected, because other programs run what it says; ask the user to change it", p.display)
	}
	return nil
}

type place struct {
	dir  Dir
	leaf string
	path Path
}

func (r *Root) locked(ctx context.Context, at place, change func(*Current) ([]Splice, error)) (Written, error) {
	info, err := at.dir.Info()
	if err != nil {
		return Written{}, err
	}
	key := fmt.Sprintf("%d:%d/%s", info.Stamp.Dev, info.Stamp.Ino, at.leaf)
	lock, err := r.locks.acquire(ctx, key)
	if err != nil {
		return Written{}, err
	}
	defer lock.release()
	r.sweep(lock)

	cur, err := current(at)
	if err != nil {
		return Written{}, err
	}
	if cur.Exists {
		defer cur.Close()
	}
	splices, err := change(cur)
	if err != nil {
		return Written{}, err
	}
	if err := ordered(splices, cur); err != nil {
		return Written{}, err
	}
	return replacement{ctx, at, cur, lock}.run(splices)
}

func current(at place) (*Current, error) {
	o, err := openIn(at.dir, at.leaf, at.path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Current{}, nil
	}
	if err != nil {
		return nil, err
	}
	if o.info.Mode.Perm()&0o222 == 0 {
		o.Close()
		return nil, fail(IO, "%s is read-only (mode %04o); make it writable first if that is meant", at.path.display, o.info.Mode.Perm())
	}
	return &Current{Opened: o, Exists: true}, nil
}

// ordered checks the splices, since a wrong offset would damage the file.
func ordered(splices []Splice, cur *Current) error {
	var end, size int64
	if cur.Exists {
		size = cur.Size()
	}
	if len(splices) == 0 {
		return fail(NoChange, "nothing to change")
	}
	for _, s := range splices {
		if s.Offset < end || s.Len < 0 || s.Offset+s.Len > size {
			return fail(IO, "internal: a change at %d+%d does not fit a file of %d bytes", s.Offset, s.Len, size)
		}
		end = s.Offset + s.Len
	}
	return nil
}

// maxMade bounds the folders created by one update: more are a mistake or an attack, and each waits
// for the disk.
const maxMade = 64

// cut shortens a long name for a message.
func cut(name string) string {
	if len(name) <= 80 {
		return name
	}
	return strings.ToValidUTF8(name[:80], "") + "…"
}

func (r *Root) makeParent(p Path) (Dir, string, []string, error) {
	base, leaf := filepath.Split(p.abs)
	if leaf == "" || p.abs == r.dir {
		return nil, "", nil, fail(IsDirectory, "%s is a folder; name a file in it", p.display)
	}
	at, so, rest, err := r.start(filepath.Clean(base))
	if err != nil {
		return nil, "", nil, err
	}
	var made []string
	for _, part := range split(rest) {
		so = filepath.Join(so, part)
		next, created, err := enter(at, part)
		at.Close()
		if created {
			made = append(made, so)
		}
		if err == nil && len(made) > maxMade {
			next.Close()
			err = fail(InvalidInput, "%s would need more than %d new folders; give a shorter path", cut(p.display), maxMade)
		}
		if err != nil {
			r.unmake(made)
			return nil, "", nil, err
		}
		at = next
	}
	return at, leaf, made, nil
}

func enter(at Dir, name string) (next Dir, created bool, err error) {
	next, err = at.OpenDir(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return next, false, err
	}
	err = at.Mkdir(name)
	created = err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, false, err
	}
	next, err = at.OpenDir(name)
	return next, created, err
}

// unmake removes the folders created by this update, innermost first, unless they contain files by
// now.
func (r *Root) unmake(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		base, leaf := filepath.Split(made[i])
		if d, err := r.openFolder(filepath.Clean(base)); err == nil {
			_ = d.RemoveDir(leaf)
			d.Close()
		}
	}
}

// syncParents makes the new folders' own entries durable.
func (r *Root) syncParents(made []string) error {
	for _, path := range made {
		d, err := r.openFolder(filepath.Dir(path))
		if err != nil {
			return err
		}
		err = d.Sync()
		d.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
