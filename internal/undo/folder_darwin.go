package undo

import "golang.org/x/sys/unix"

func statFrom(st *unix.Stat_t) stat {
	return stat{mode: uint32(st.Mode), size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
		inode: inode{uint64(uint32(st.Dev)), st.Ino}, links: uint64(st.Nlink)}
}

// attrsOf reads the attributes of an open file or folder; on this system none are kept.
func attrsOf(int) string { return "" }

func setAttrs(int, string) error { return nil }

func setOwner(int, string) error { return nil }

// exchange swaps two names in one step.
func (f folder) exchange(a, b string, _ func()) error {
	return unix.RenameatxNp(f.fd, a, f.fd, b, unix.RENAME_SWAP)
}

// move renames; it fails when the new name is taken.
func (f folder) move(from, to string) error {
	return unix.RenameatxNp(f.fd, from, f.fd, to, unix.RENAME_EXCL)
}

// syncAll writes everything to the disk.
func (f folder) syncAll() error { return unix.Sync() }
