package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

const (
	tempPrefix = ".adze-"
	tempSuffix = ".tmp"
)

// replacement replaces a file by renaming a temporary file over it, once that is complete and
// synced. A rename also avoids writing through to other hard links.
type replacement struct {
	ctx    context.Context
	target place
	cur    *Current
	lock   *heldLock
}

func (r replacement) run(splices []Splice) (Written, error) {
	temp := tempPrefix + strings.ToLower(rand.Text()) + tempSuffix
	r.lock.note(filepath.Join(filepath.Dir(r.target.path.abs), temp))
	perm := fs.FileMode(0o600)
	if !r.cur.Exists {
		perm = 0o666
	}
	f, err := r.target.dir.Create(temp, perm)
	if err != nil {
		r.lock.note("")
		return Written{}, err
	}
	defer f.Close()
	w, err := r.fill(f, temp, splices)
	if err != nil {
		if r.target.dir.Remove(temp) == nil {
			r.lock.note("")
		}
		return Written{}, err
	}
	r.lock.note("")
	if r.target.dir.Sync() != nil {
		w.Notes = append(w.Notes, unsynced)
	}
	return w, nil
}

// fill writes the new content and renames the file. If it returns nil, the change has happened.
func (r replacement) fill(f File, temp string, splices []Splice) (Written, error) {
	if err := r.copy(f, splices); err != nil {
		return Written{}, err
	}
	if r.cur.Exists {
		if err := f.Keep(r.cur.info, r.cur.file); err != nil {
			return Written{}, err
		}
	}
	if err := f.Sync(); err != nil {
		return Written{}, err
	}
	after, err := r.describe(f)
	if err != nil {
		return Written{}, err
	}
	if err := r.unmoved(); err != nil {
		return Written{}, err
	}
	err = r.target.dir.Rename(temp, r.target.leaf, r.cur.Exists)
	if errors.Is(err, fs.ErrExist) {
		return Written{}, fail(Stale, "%s was created by something else meanwhile; read it first", r.target.path.display)
	}
	if err != nil {
		return Written{}, err
	}
	if info, err := f.Info(); err == nil { // renaming changed the ctime
		after.State.Stamp = info.Stamp
	}
	return after, nil
}

func (r replacement) copy(f File, splices []Splice) error {
	var at int64
	for _, s := range splices {
		if err := r.ctx.Err(); err != nil {
			return aborted(err)
		}
		if s.Offset > at {
			if err := r.keepRange(f, at, s.Offset); err != nil {
				return err
			}
		}
		if len(s.Data) > 0 {
			if _, err := f.Write(s.Data); err != nil {
				return err
			}
		}
		at = s.Offset + s.Len
	}
	if r.cur.Exists && at < r.cur.Size() {
		return r.keepRange(f, at, r.cur.Size())
	}
	return nil
}

// keepRange copies [from, to) from the old file in pieces, checking for an abort between them.
func (r replacement) keepRange(f File, from, to int64) error {
	const piece = 64 << 20
	for from < to {
		if err := r.ctx.Err(); err != nil {
			return aborted(err)
		}
		n := min(piece, to-from)
		if err := f.CopyFrom(r.cur.file, from, n); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// describe reads the finished file back, so that the stored hash matches the disk.
func (r replacement) describe(f File) (Written, error) {
	info, err := f.Info()
	if err != nil {
		return Written{}, err
	}
	o := &Opened{path: r.target.path, info: info, file: f}
	w := Written{Created: !r.cur.Exists, Bytes: o.Size(), State: o.State(nil)}
	if o.Size() <= HashLimit {
		content, err := o.Bytes(r.ctx, HashLimit)
		if err != nil {
			return Written{}, err
		}
		w.State = o.State(content)
	}
	if r.cur.Exists {
		w.Notes = notes(r.cur.info, info)
	}
	return w, nil
}

func notes(old, now Info) (notes []string) {
	if old.Links > 1 {
		notes = append(notes, fmt.Sprintf("the file had %d hard links; the other names keep the old content", old.Links))
	}
	if old.UID != now.UID || old.GID != now.GID {
		notes = append(notes, fmt.Sprintf("the owner could not be kept (was %d:%d, now %d:%d)", old.UID, old.GID, now.UID, now.GID))
	}
	return notes
}

// unmoved checks a last time that no other program, which does not take the lock, changed the file.
func (r replacement) unmoved() error {
	if err := r.ctx.Err(); err != nil {
		return aborted(err)
	}
	if !r.cur.Exists {
		return nil
	}
	info, err := r.target.dir.Lstat(r.target.leaf)
	if err == nil && info.Stamp == r.cur.info.Stamp {
		return nil
	}
	if err != nil && !gone(err) {
		return err
	}
	return fail(Stale, "%s was changed by something else during the write; read it again", r.target.path.display)
}

// sweep removes the temporary file left by a writer that died holding this lock.
func (r *Root) sweep(l *heldLock) {
	left := l.left()
	base, name := filepath.Split(left)
	if !strings.HasPrefix(name, tempPrefix) || !strings.HasSuffix(name, tempSuffix) {
		return
	}
	if d, err := r.openFolder(filepath.Clean(base)); err == nil {
		_ = d.Remove(name)
		d.Close()
	}
	l.note("")
}
