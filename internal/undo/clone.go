package undo

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"adze/internal/osfile/atomicfile"
	"adze/internal/undo/pack"
)

// A file that is larger than what is read into the store is kept as a clone, where the file system
// lets two files share what is equal (btrfs, XFS and others; FICLONE): it takes no room until one
// of them changes. Elsewhere it is left out. Clones stand beside the packs, each named by the hash
// of its content.

// smallClone is the size from which on a content may be a clone: Limits.File may have been smaller
// before.
const smallClone = 1 << 10

// mostHashed bounds the file of which the content is looked at, in bytes.
const mostHashed = 64 << 30

// clones is the folder of clones.
type clones struct {
	dir string
	off atomic.Bool // it was tried, and files cannot be cloned into it
}

func (c *clones) path(h pack.Hash) string { return filepath.Join(c.dir, h.String()) }

// has reports whether the content of a file is kept as a clone.
func (c *clones) has(e Entry) bool {
	if e.Size < smallClone {
		return false
	}
	st, err := os.Lstat(c.path(e.Hash))
	return err == nil && st.Mode().IsRegular() && st.Size() == e.Size
}

// sweep removes the clones that nothing needs, and those that were not finished.
func (c *clones) sweep(live func(pack.Hash) bool, step func()) error {
	all, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range all {
		b, bad := hex.DecodeString(e.Name())
		if bad == nil && len(b) == len(pack.Hash{}) && live(pack.Hash(b)) {
			continue
		}
		step()
		err = errors.Join(err, os.Remove(filepath.Join(c.dir, e.Name())))
	}
	return err
}

// clone keeps a large file as a clone, or leaves it out.
func (k *hand) clone(at folder, n *node) {
	var e Entry
	st, err := n.stat, error(nil)
	if k.opts.Look {
		e, err = at.lookLarge(n.name)
	} else {
		e, st, err = k.makeClone(at, n.name)
	}
	switch {
	case errors.Is(err, errNoClones):
		k.clones.off.Store(true)
		leave(n, leftLarge)
	case errors.Is(err, errUnstable):
		leave(n, leftUnstable)
	case full(err):
		leave(n, leftSpace)
	case err != nil:
		leave(n, leftUnreadable)
	default:
		n.Entry, n.stat = e, st
		n.lately = max(st.mtime, st.ctime) > k.now.UnixNano()-settled
	}
}

// errNoClones means that this file system does not share, or not with that of the store.
var errNoClones = errors.New("the file system does not clone files")

func (k *hand) makeClone(at folder, name string) (e Entry, st stat, err error) {
	from, err := at.openFile(name)
	if err != nil {
		return e, st, err
	}
	defer from.Close()
	before, err := statOpen(from)
	if err != nil || !before.isFile() {
		return e, st, errors.Join(errUnstable, err)
	}
	if err := os.MkdirAll(k.clones.dir, 0o700); err != nil {
		return e, st, err
	}
	to, err := os.CreateTemp(k.clones.dir, "new-*") // 0600
	if err != nil {
		return e, st, err
	}
	defer os.Remove(to.Name()) // unless it has its own name by then
	defer to.Close()
	if err := cloneFile(to, from); err != nil {
		return e, st, err
	}
	k.moment()
	attrs := attrsOf(int(from.Fd()))
	if st, err = statOpen(from); err != nil {
		return e, st, err
	}
	if !st.unchanged(before) {
		return e, st, errUnstable
	}
	e = Entry{Kind: File, Mode: st.mode & 0o7777, Attrs: attrs}
	if e.Hash, e.Size, err = sumOf(to); err != nil {
		return e, st, err
	}
	if k.clones.has(e) {
		return e, st, nil
	}
	if err := to.Sync(); err != nil {
		return e, st, err
	}
	return e, st, errors.Join(os.Rename(to.Name(), k.clones.path(e.Hash)), atomicfile.SyncFolder(k.clones.dir))
}

// sumOf is the hash of an open file, and how long it is.
func sumOf(f *os.File) (h pack.Hash, size int64, err error) {
	sum := sha256.New()
	size, err = io.Copy(sum, io.NewSectionReader(f, 0, mostHashed))
	copy(h[:], sum.Sum(nil))
	return h, size, err
}

// lookLarge is look for a file that need not fit into memory.
func (f folder) lookLarge(name string) (Entry, error) {
	file, err := f.openFile(name)
	if err != nil {
		return Entry{}, err
	}
	defer file.Close()
	before, err := statOpen(file)
	if err != nil {
		return Entry{}, err
	}
	if !before.isFile() || before.size >= mostHashed {
		return Entry{}, fmt.Errorf("%s is no file of less than %d bytes", name, int64(mostHashed))
	}
	e := Entry{Kind: File, Mode: before.mode & 0o7777, Attrs: attrsOf(int(file.Fd()))}
	if e.Hash, e.Size, err = sumOf(file); err != nil {
		return Entry{}, err
	}
	if after, err := statOpen(file); err != nil || !after.unchanged(before) {
		return Entry{}, errors.Join(errUnstable, err)
	}
	return e, nil
}

// makeFromClone makes a large file under the name for what is not finished.
func (s spot) makeFromClone() error {
	from, err := os.Open(s.w.clones.path(s.To.Hash))
	if err != nil {
		return err
	}
	defer from.Close()
	if h, size, err := sumOf(from); err != nil || h != s.To.Hash || size != s.To.Size {
		return errors.Join(pack.ErrDamaged, err)
	}
	return s.butOwner(s.at.writeFrom(s.temp, from, s.To.Mode, s.To.Attrs))
}
