package undo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openBeneath opens a folder by its path from another one, through no link and not out of that.
func openBeneath(fd int, path string) (child int, err error) {
	if path == "" {
		path = "."
	}
	how := unix.OpenHow{Flags: folderFlags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	for {
		child, err = unix.Openat2(fd, path, &how)
		switch {
		case err == nil:
			return child, nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
			return -1, errors.ErrUnsupported // a kernel before 5.6, or a filter that does not know the call
		default:
			return -1, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// read lists the names of a folder in the order of the file system.
func (f folder) read(m *names) ([]string, error) {
	m.ready()
	if f.plain {
		return f.readPlain(m)
	}
	var all []string
	for {
		var n int
		err := again(func() (err error) { n, err = unix.ReadDirent(f.fd, m.raw); return err })
		if err != nil {
			return nil, fmt.Errorf("read folder: %w", err)
		}
		if n <= 0 {
			return all, nil
		}
		// Records of struct linux_dirent64: inode 8 bytes, offset 8, length 2, type 1, name.
		for raw := m.raw[:n]; len(raw) > 19; {
			size := int(binary.NativeEndian.Uint16(raw[16:]))
			name, _, _ := bytes.Cut(raw[19:size], []byte{0})
			if s := string(name); s != "." && s != ".." {
				all = append(all, s)
			}
			raw = raw[size:]
		}
		m.more(n)
	}
}

func statFrom(st *unix.Stat_t) stat {
	return stat{mode: st.Mode, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
		inode: inode{uint64(st.Dev), st.Ino}, links: uint64(st.Nlink)} //nolint:unconvert // differs by architecture
}
