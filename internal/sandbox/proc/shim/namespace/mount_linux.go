package namespace

import (
	"strconv"
	"strings"
	"syscall"
)

// tree is a command's file tree under construction.
type tree struct {
	old   int // the host's root
	top   int // the new root
	empty int // a folder with an empty folder and an empty file
	// hollow lists file systems with mount points for later mounts; they become read only at the
	// end.
	hollow []int
}

func (t *tree) add(m Mount) error {
	switch m.Kind {
	case Writable:
		return t.fromHost(m, attrNoSuid|attrNoDev)
	case View:
		return t.view(m)
	case Handed:
		return t.ofHolder(m)
	case ReadOnly:
		return t.fromHost(m, attrNoSuid|attrNoDev|attrReadOnly)
	case Same:
		return t.onItself(m.Path, 0)
	case Locked:
		return t.onItself(m.Path, attrReadOnly)
	case Empty:
		return t.blank(m.Path)
	case Private:
		return t.private(m)
	case EmptyFolder:
		return t.hollowOut(m)
	case Link:
		return t.link(m)
	case Devices:
		return t.devices(m.Path)
	case Proc:
		return t.proc(m.Path)
	}
	return syscall.EINVAL
}

// fromHost mounts a host file or folder.
func (t *tree) fromHost(m Mount, attrs uint64) error {
	from, err := openNoLinks(t.old, m.Source, oPath)
	if err != nil {
		return err
	}
	defer syscall.Close(from)
	var st syscall.Stat_t
	if err := syscall.Fstat(from, &st); err != nil {
		return err
	}
	if (m.Dev != 0 || m.Ino != 0) && (uint64(st.Dev) != m.Dev || st.Ino != m.Ino) {
		return syscall.ESTALE // replaced meanwhile
	}
	to, err := t.point(m.Path, st.Mode&syscall.S_IFMT == syscall.S_IFDIR)
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	return copyOnto(from, to, attrs)
}

// view mounts a host folder through an overlay.
func (t *tree) view(m Mount) error {
	fs, err := t.overlay(m)
	if err != nil {
		return err
	}
	defer syscall.Close(fs)
	to, err := t.point(m.Path, true)
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	return attach(fs, to)
}

// overlay makes a View's detached overlay (overlayfs.rst). It names all three folders by
// descriptors, which cannot be redirected and need no quoting. userxattr is available to all users;
// it also keeps renamed folders and changed attributes complete in the upper folder.
func (t *tree) overlay(m Mount) (int, error) {
	lower, err := openNoLinks(t.old, m.Source, oPath|syscall.O_DIRECTORY)
	if err != nil {
		return -1, err
	}
	defer syscall.Close(lower)
	var st syscall.Stat_t
	if err := syscall.Fstat(lower, &st); err != nil {
		return -1, err
	}
	if (m.Dev != 0 || m.Ino != 0) && (uint64(st.Dev) != m.Dev || st.Ino != m.Ino) {
		return -1, syscall.ESTALE // replaced meanwhile
	}
	upper, err := openNoLinks(t.old, m.Upper+"/upper", oPath|syscall.O_DIRECTORY)
	if err != nil {
		return -1, viewFault(err)
	}
	defer syscall.Close(upper)
	work, err := openNoLinks(t.old, m.Upper+"/work", oPath|syscall.O_DIRECTORY)
	if err != nil {
		return -1, viewFault(err)
	}
	defer syscall.Close(work)
	fs, err := newFS("overlay", attrNoSuid|attrNoDev, "lowerdir", byDescriptor(lower), "upperdir", byDescriptor(upper), "workdir", byDescriptor(work), userXattr, "", volatile, "")
	if err != nil {
		return -1, viewFault(err)
	}
	return fs, nil
}

// Overlay options without a value. Without volatile the kernel would sync the whole file system
// when the view ends; no view is mounted twice.
const (
	userXattr = "userxattr"
	volatile  = "volatile"
)

func byDescriptor(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// viewFault marks an error as a missing overlay.
func viewFault(err error) error { return &Fault{NoView, err} }

// onItself turns a path into a mount point, with a single lookup.
func (t *tree) onItself(path string, attrs uint64) error {
	at, err := openNoLinks(t.top, path, oPath)
	if err != nil {
		return err
	}
	defer syscall.Close(at)
	return copyOnto(at, at, attrs)
}

func copyOnto(from, to int, attrs uint64) error {
	copied, err := cloneTree(from)
	if err != nil {
		return err
	}
	defer syscall.Close(copied)
	if attrs != 0 {
		if err := setAttr(copied, attrs, 0); err != nil {
			return err
		}
	}
	return attach(copied, to)
}

// point opens a mount point, and makes it if a private folder hides it.
func (t *tree) point(path string, folder bool) (int, error) {
	fd, err := openNoLinks(t.top, path, oPath)
	if err != syscall.ENOENT {
		return fd, err
	}
	steps := strings.Split(strings.Trim(path, "/"), "/")
	at, err := syscall.Dup(t.top)
	if err != nil {
		return -1, err
	}
	for i, name := range steps {
		if i == len(steps)-1 && !folder {
			var made int
			if made, err = syscall.Openat(at, name, syscall.O_CREAT|syscall.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o444); err == nil {
				_ = syscall.Close(made)
			}
		} else {
			err = syscall.Mkdirat(at, name, 0o755)
		}
		if err != nil && err != syscall.EEXIST {
			if _, there := openNoLinks(at, name, oPath); there != nil {
				_ = syscall.Close(at)
				return -1, err
			}
		}
		next, err := openNoLinks(at, name, oPath)
		_ = syscall.Close(at)
		if err != nil {
			return -1, err
		}
		at = next
	}
	return at, nil
}

// blank hides a path behind an empty file or folder.
func (t *tree) blank(path string) error {
	at, err := openNoLinks(t.top, path, oPath)
	if err == syscall.ENOENT {
		return nil
	}
	if err != nil {
		return err
	}
	defer syscall.Close(at)
	var st syscall.Stat_t
	if err := syscall.Fstat(at, &st); err != nil {
		return err
	}
	name := "file"
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		name = "folder"
	}
	from, err := openNoLinks(t.empty, name, oPath)
	if err != nil {
		return err
	}
	defer syscall.Close(from)
	return copyOnto(from, at, attrReadOnly)
}

// makeEmpty makes the sources for blank first, in a small file system of their own.
func (t *tree) makeEmpty() error {
	fs, err := newFS("tmpfs", attrNoSuid|attrNoDev|attrNoExec, "size", "4096", "mode", "0755")
	if err != nil {
		return err
	}
	t.empty = fs
	// Before Linux 6.15 a detached tree cannot be copied, so it is attached where Proc's mount
	// covers it later.
	at, err := openNoLinks(t.top, "proc", oPath|syscall.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer syscall.Close(at)
	if err := attach(fs, at); err != nil {
		return err
	}
	if err := syscall.Mkdirat(fs, "folder", 0o555); err != nil {
		return err
	}
	f, err := syscall.Openat(fs, "file", syscall.O_CREAT|syscall.O_CLOEXEC, 0o444)
	if err != nil {
		return err
	}
	return syscall.Close(f)
}

func (t *tree) private(m Mount) error {
	size := m.Size
	if size == 0 {
		size = 1 << 30
	}
	fs, err := newFS("tmpfs", attrNoSuid|attrNoDev, "size", strconv.FormatUint(size, 10), "mode", privateMode(m.Path))
	if err != nil {
		return err
	}
	defer syscall.Close(fs)
	at, err := t.point(m.Path, true)
	if err != nil {
		return err
	}
	defer syscall.Close(at)
	return attach(fs, at)
}

// hollowSize limits a EmptyFolder folder in bytes: it holds names only.
const hollowSize = 4 << 20

func (t *tree) hollowOut(m Mount) error {
	fs, err := newFS("tmpfs", attrNoSuid|attrNoDev, "size", strconv.Itoa(hollowSize), "mode", "0755")
	if err != nil {
		return err
	}
	t.hollow = append(t.hollow, fs)
	at, err := t.point(m.Path, true)
	if err != nil {
		return err
	}
	defer syscall.Close(at)
	return attach(fs, at)
}

func (t *tree) link(m Mount) error {
	cut := strings.LastIndexByte(m.Path, '/')
	at, err := t.point(m.Path[:cut], true)
	if err != nil {
		return err
	}
	defer syscall.Close(at)
	return symlinkat(m.Source, at, m.Path[cut+1:])
}

// privateMode returns the host's mode for world-writable folders.
func privateMode(path string) string {
	if strings.HasSuffix(path, "/tmp") || strings.HasSuffix(path, "/shm") {
		return "1777"
	}
	return "0755"
}
