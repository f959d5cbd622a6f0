package entry

import (
	"cmp"

	"golang.org/x/sys/unix"
)

// OpenBeneath opens a folder below another one without following a link.
func OpenBeneath(top int, path string) (int, error) {
	return unix.Openat2(top, cmp.Or(path, "."), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
}

// Later reports whether b is after a.
func Later(b, a [2]int64) bool { return b[0] > a[0] || b[0] == a[0] && b[1] > a[1] }

// StatAt examines a name in an open folder, or the descriptor itself if name is "".
func StatAt(at int, name string) (Stat, error) {
	var st unix.Statx_t
	flags := unix.AT_SYMLINK_NOFOLLOW
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	if err := unix.Statx(at, name, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
		return Stat{}, err
	}
	when := func(t unix.StatxTimestamp) [2]int64 { return [2]int64{t.Sec, int64(t.Nsec)} }
	out := Stat{
		Mode: uint32(st.Mode), Dev: unix.Mkdev(st.Dev_major, st.Dev_minor), Ino: st.Ino, Size: int64(st.Size), Changed: when(st.Ctime),
		Modified: when(st.Mtime), Accessed: when(st.Atime), UID: st.Uid, GID: st.Gid, Links: uint64(st.Nlink),
	}
	if st.Mask&unix.STATX_BTIME != 0 {
		out.Born = when(st.Btime)
	}
	return out, nil
}

// StatOf examines a path without following a link at its end.
func StatOf(path string) (Stat, error) { return StatAt(unix.AT_FDCWD, path) }

// ID identifies an entry on this machine. A later entry may get the same inode number.
type ID struct {
	dev, ino uint64
	born     [2]int64
	kind     uint32
}

func (s Stat) ID() ID { return ID{s.Dev, s.Ino, s.Born, s.Mode & typeBits} }
