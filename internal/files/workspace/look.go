package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Look calls see with the file as Update would find it, and fails where Update would before
// changing anything: protected path, folder, read-only file. It creates no folders, takes no lock
// and writes nothing, so the file may differ when Update runs.
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
		err = nil // missing folders would be created
	}
	if err == nil {
		if cur.Exists {
			defer cur.Close()
		}
		err = see(cur)
	}
	return wrapped(err, p.display, "write")
}

// wrapped is wrap that passes nil through.
func wrapped(err error, name, doing string) error {
	if err == nil {
		return nil
	}
	return wrap(err, name, doing)
}
