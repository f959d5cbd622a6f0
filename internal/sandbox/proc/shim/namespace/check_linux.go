package namespace

import "syscall"

const (
	mountReadOnly = 1 // ST_RDONLY in statfs(2)
	magicTmpfs    = 0x01021994
	magicProc     = 0x9fa0
	magicOverlay  = 0x794c7630
	nullDevice    = 1<<8 | 3
)

// check compares the existing mounts with the planned ones, whoever made them.
func (b Box) check() error {
	if len(b.Mounts) == 0 {
		return nil
	}
	root, err := syscall.Open("/", oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &Fault{"/", err}
	}
	defer syscall.Close(root)
	for _, m := range b.Mounts {
		if err := m.check(root); err != nil {
			return &Fault{m.Path, err}
		}
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/", &fs); err != nil {
		return &Fault{"/", err}
	}
	if fs.Flags&mountReadOnly == 0 {
		return &Fault{"/", errWritable}
	}
	return nil
}

// fault is an error found by check.
type fault string

func (f fault) Error() string { return string(f) }

const (
	errWritable = fault("it can be written to")
	errLocked   = fault("it cannot be written to")
	errOther    = fault("it is another folder than before")
	errFull     = fault("it is not empty")
	errKind     = fault("it is not what was mounted")
)

func (m Mount) check(root int) error {
	flags := uint64(oPath)
	if m.Kind == Link {
		flags |= syscall.O_NOFOLLOW
	}
	fd, err := openNoLinks(root, m.Path, flags)
	if err == syscall.ENOENT && m.Kind == Empty {
		return nil
	}
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	var fs syscall.Statfs_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	if err := syscall.Fstatfs(fd, &fs); err != nil {
		return err
	}
	readOnly := fs.Flags&mountReadOnly != 0
	switch m.Kind {
	case Writable:
		if (m.Dev != 0 || m.Ino != 0) && (uint64(st.Dev) != m.Dev || st.Ino != m.Ino) {
			return errOther
		}
		if readOnly {
			return errLocked
		}
	case View, Handed:
		if fs.Type != magicOverlay {
			return errKind
		}
		if readOnly {
			return errLocked
		}
	case Same:
	case Locked, ReadOnly:
		if !readOnly {
			return errWritable
		}
	case EmptyFolder:
		if fs.Type != magicTmpfs {
			return errKind
		}
		if !readOnly {
			return errWritable
		}
	case Link:
		if st.Mode&syscall.S_IFMT != syscall.S_IFLNK {
			return errKind
		}
	case Empty:
		if fs.Type != magicTmpfs || !readOnly || st.Size > 0 && st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
			return errFull
		}
	case Private, Devices:
		if fs.Type != magicTmpfs || readOnly && m.Kind == Private {
			return errKind
		}
	case Proc:
		if fs.Type != magicProc {
			return errKind
		}
	}
	return nil
}
