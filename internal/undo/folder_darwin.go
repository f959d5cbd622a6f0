package undo

import "golang.org/x/sys/unix"

func statFrom(st *unix.Stat_t) stat {
	return stat{mode: uint32(st.Mode), size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
		inode: inode{uint64(uint32(st.Dev)), st.Ino}, links: uint64(st.Nlink)}
}

// attrsOf returns "": attributes are not stored on this system.
func attrsOf(int) string { return "" }

func setAttrs(int, string) error { return nil }

func setOwner(int, string) error { return nil }

// exchange swaps two names atomically.
func (f folder) exchange(a, b string, _ func()) error {
	return unix.RenameatxNp(f.fd, a, f.fd, b, unix.RENAME_SWAP)
}

// move renames an entry. It fails if the new name exists.
func (f folder) move(from, to string) error {
	return unix.RenameatxNp(f.fd, from, f.fd, to, unix.RENAME_EXCL)
}

func (f folder) syncAll() error { return unix.Sync() }
