package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Look shows see the file as Update would find it now, and fails where Update would before it
// changes anything: a protected place, a folder, a read-only file. It makes no folder, takes no
// lock and writes nothing, so that what it saw may be different when Update comes.
func (r *Root) Look(p Path, see func(*Current) error) error {
	if err := p.writable(); err != nil {
		return err
	}
	base, leaf := filepath.Split(p.abs)
	if leaf == "" || p.abs == r.dir {
		return fail(IsDirectory, "%s is a folder; name a file in it", p.display)
	}
	cur := &Current{}
	dir, err := r.openFolder(filepath.Clean(base))
	if err == nil {
		defer dir.Close()
		cur, err = current(place{dir, leaf, p})
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil // its missing folders would be made
	}
	if err == nil {
		if cur.Exists {
			defer cur.Close()
		}
		err = see(cur)
	}
	return wrapped(err, p.display, "write")
}

// wrapped is wrap for what may have gone well.
func wrapped(err error, name, doing string) error {
	if err == nil {
		return nil
	}
	return wrap(err, name, doing)
}
