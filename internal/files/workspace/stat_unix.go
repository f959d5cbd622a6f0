//go:build unix

package workspace

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// infoOf converts unix.Stat_t, whose field widths differ between systems.
func infoOf(st *unix.Stat_t) Info {
	return Info{
		Mode:  goMode(uint32(st.Mode)),
		Links: uint64(st.Nlink),
		UID:   st.Uid,
		GID:   st.Gid,
		Stamp: Stamp{
			Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size,
			Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(),
		},
	}
}

func goMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	}
	if m&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if m&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if m&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

func unixMode(m fs.FileMode) uint32 {
	mode := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		mode |= unix.S_ISUID
	}
	if m&fs.ModeSetgid != 0 {
		mode |= unix.S_ISGID
	}
	if m&fs.ModeSticky != 0 {
		mode |= unix.S_ISVTX
	}
	return mode
}
