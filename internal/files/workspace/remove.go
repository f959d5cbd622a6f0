package workspace

import (
	"context"
	"fmt"
)

// Remove deletes a file if look returns nil, called with the path's lock held.
func (r *Root) Remove(ctx context.Context, p Path, look func(*Current) error) error {
	if err := p.writable(); err != nil {
		return err
	}
	dir, leaf, err := r.parent(p)
	if err != nil {
		return wrap(err, p.display, "delete")
	}
	defer dir.Close()
	info, err := dir.Info()
	if err != nil {
		return wrap(err, p.display, "delete")
	}
	lock, err := r.locks.acquire(ctx, fmt.Sprintf("%d:%d/%s", info.Stamp.Dev, info.Stamp.Ino, leaf))
	if err != nil {
		return wrap(err, p.display, "delete")
	}
	defer lock.release()
	cur, err := current(place{dir, leaf, p})
	if err != nil {
		return wrap(err, p.display, "delete")
	}
	if !cur.Exists {
		return fail(NotFound, "%s does not exist", p.display)
	}
	defer cur.Close()
	if err := look(cur); err != nil {
		return err
	}
	if err := dir.Remove(leaf); err != nil {
		return wrap(err, p.display, "delete")
	}
	if err := dir.Sync(); err != nil {
		return wrap(err, p.display, "delete")
	}
	return nil
}
