package undo

import "golang.org/x/sys/unix"

func statFrom(st *unix.Stat_t) stat {
	return stat{mode: st.Mode, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
		inode: inode{uint64(st.Dev), st.Ino}, links: uint64(st.Nlink)} //nolint:unconvert // differs by architecture
}
