package entry

import (
	"adze/internal/sandbox/proc/shim/seccomptrace"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenOwn opens a file in the view, even one that the command made unreadable. It wraps the
// descriptor without the poller, which rejects regular files.
func OpenOwn(path string, st Stat) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == unix.EACCES {
		if err = unix.Chmod(path, st.Mode&0o7777|0o400); err == nil {
			fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			err = errors.Join(err, unix.Chmod(path, st.Mode&0o7777))
		}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

func SameOwner(a, b Stat) bool { return a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID }

// NewestIn returns the latest change time in a folder.
func NewestIn(fd int) (newest [2]int64, err error) {
	names, err := Names(fd)
	if err != nil {
		return newest, err
	}
	for _, name := range names {
		st, err := StatAt(fd, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		below := newest
		if err == nil && st.IsFolder() {
			var sub int
			if sub, err = OpenBeneath(fd, name); err == nil {
				below, err = NewestIn(sub)
				_ = unix.Close(sub)
			}
			if st.Born != [2]int64{} { // a removed name does not change the rest
				st.Changed = st.Born
			}
		}
		if err != nil {
			return newest, err
		}
		newest = slices.MaxFunc([][2]int64{newest, below, st.Changed}, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
	}
	return newest, nil
}

// Names lists an open folder, even one opened with O_PATH.
func Names(fd int) ([]string, error) {
	again, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(again), "folder")
	defer f.Close()
	return f.Readdirnames(-1)
}

// OpenFolder restores this user's permissions on a folder, until it is applied.
func OpenFolder(at string, st Stat) error {
	if st.Mode&0o700 == 0o700 {
		return nil
	}
	return unix.Chmod(at, st.Mode&0o7777|0o700)
}

// IsWhiteout reports whether the entry is the kernel's mark for a removed one.
func IsWhiteout(at string) bool {
	var st unix.Stat_t
	return unix.Lstat(at, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0
}

// overlayAttribute prefixes the kernel's attributes in upper folders.
const overlayAttribute = "user.overlay."

// IsOpaque reports whether a folder hides the one below it.
func IsOpaque(at string) bool {
	value := make([]byte, 4)
	n, err := unix.Lgetxattr(at, overlayAttribute+"opaque", value)
	return err == nil && string(value[:n]) == "y"
}

// maxList is the kernel's limit for an attribute list or value (xattr(7)).
const maxList = 64 << 10

// attributeNames lists an entry's attributes, or returns nil on errors.
func attributeNames(path string, list func(string, []byte) (int, error)) []string {
	n, err := list(path, nil)
	if err != nil {
		return nil
	}
	if n == 0 {
		return []string{}
	}
	buf := make([]byte, maxList)
	if n, err = list(path, buf); err != nil {
		return nil
	}
	return strings.FieldsFunc(string(buf[:n]), func(r rune) bool { return r == 0 })
}

// bookkeeping reports whether an attribute belongs to the kernel's overlay or the listener.
func bookkeeping(name string) bool {
	return strings.HasPrefix(name, overlayAttribute) || name == seccomptrace.Moved
}

// Strip removes bookkeeping attributes.
func Strip(at string, st Stat) error {
	var err error
	for _, name := range attributeNames(at, unix.Llistxattr) {
		if !bookkeeping(name) {
			continue
		}
		if e := unix.Lremovexattr(at, name); e == unix.EACCES { // read-only file
			err = errors.Join(err, unix.Chmod(at, st.Mode&0o7777|0o600), unix.Lremovexattr(at, name), unix.Chmod(at, st.Mode&0o7777))
		} else {
			err = errors.Join(err, e)
		}
	}
	return err
}

// SameAttributes compares two entries' attributes without bookkeeping. Unreadable ones count as
// equal.
func SameAttributes(a, b int) bool {
	x, y := AttributesOf(a), AttributesOf(b)
	return x == nil || y == nil || maps.EqualFunc(x, y, bytes.Equal)
}

// HasOrigin reports whether the kernel copied the entry up.
func HasOrigin(at string) bool {
	_, err := unix.Lgetxattr(at, overlayAttribute+"origin", nil)
	return err == nil
}

// BlockSize is the unit of comparison, in bytes.
const BlockSize = 64 << 10

var errDiffers = errors.New("they differ")

// CompareContent compares the command's file with the one below.
func CompareContent(ours, there *os.File, size, below int64) (Content, error) {
	most := min(size, below)
	err := Differences(ours, there, most, most, func(int64, []byte, []byte) error { return errDiffers })
	switch {
	case err == errDiffers:
		return Differs, nil
	case err != nil:
		return Differs, err
	case size == below:
		return Same, nil
	case size > below:
		return Grown, nil
	}
	return Behind, nil
}

// ReadAll fills p. It pads with zeros if the file was truncated meanwhile.
func ReadAll(f *os.File, p []byte, at int64) error {
	n, err := f.ReadAt(p, at)
	clear(p[n:])
	if err == io.EOF {
		err = nil
	}
	return err
}

// skipHoles returns the next offset with data in one of two files.
func skipHoles(a, b *os.File, at, most int64) int64 {
	next := most
	for _, f := range []*os.File{a, b} {
		n, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
		switch {
		case err == unix.ENXIO: // no more data
		case err != nil:
			return at
		default:
			next = min(next, n)
		}
	}
	return max(at, next)
}

// Differences calls do for each differing block of f and ours. Bytes beyond the end of ours differ;
// those beyond the end of f are skipped.
func Differences(f, ours *os.File, size, want int64, do func(at int64, data, wanted []byte) error) error {
	x, y := make([]byte, min(BlockSize, size)), make([]byte, min(BlockSize, size))
	for at := int64(0); at < size; {
		if at = skipHoles(f, ours, at, size); at == size {
			return nil
		}
		n := min(BlockSize, size-at)
		if err := errors.Join(ReadAll(f, x[:n], at), ReadAll(ours, y[:n], at)); err != nil {
			return err
		}
		if at+n > want || !bytes.Equal(x[:n], y[:n]) {
			if err := do(at, x[:n], y[:max(0, min(n, want-at))]); err != nil {
				return err
			}
		}
		at += n
	}
	return nil
}

// CopyData copies data from offset at on and keeps holes.
func CopyData(f, ours *os.File, at, size int64) error {
	if at == size {
		return nil
	}
	buf := make([]byte, min(BlockSize, size-at))
	for at < size {
		if at = skipHoles(ours, ours, at, size); at == size {
			break
		}
		n := min(BlockSize, size-at)
		if err := ReadAll(ours, buf[:n], at); err != nil {
			return err
		}
		if _, err := f.WriteAt(buf[:n], at); err != nil {
			return err
		}
		at += n
		Passing()
	}
	info, err := f.Stat()
	if err == nil && info.Size() < size {
		err = f.Truncate(size)
	}
	return err
}

// SetAttributes sets owner, attributes, mode and, with times, the modification time. With keep it
// removes no attribute.
func SetAttributes(fd int, st Stat, attributes map[string][]byte, times, keep bool) error {
	path := byDescriptor(fd)
	now, err := StatAt(fd, "")
	if err != nil {
		return err
	}
	if now.UID != st.UID || now.GID != st.GID {
		if err := unix.Chown(path, int(st.UID), int(st.GID)); err != nil {
			return err
		}
		now.Mode = 0 // chown may change it
	}
	if have := AttributesOf(fd); have != nil && attributes != nil {
		for name, value := range attributes {
			if old, ok := have[name]; !ok || !bytes.Equal(old, value) {
				if err := unix.Setxattr(path, name, value, 0); err != nil && err != unix.ENOTSUP {
					return err
				}
				now.Mode = 0 // an ACL changes it
			}
		}
		for name := range have {
			if _, ok := attributes[name]; !ok && !keep {
				if err := unix.Removexattr(path, name); err != nil && err != unix.ENOTSUP {
					return err
				}
				now.Mode = 0
			}
		}
	}
	if now.Mode != st.Mode {
		if err := unix.Chmod(path, st.Mode&0o7777); err != nil {
			return err
		}
	}
	if !times || now.Modified == st.Modified {
		return nil
	}
	when := unix.Timespec{Sec: st.Modified[0], Nsec: st.Modified[1]}
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{{Nsec: unix.UTIME_OMIT}, when}, 0)
}

// AttributesOf returns extended attributes, without those reserved for the kernel and the system,
// or nil on errors.
func AttributesOf(fd int) map[string][]byte {
	path := byDescriptor(fd)
	names := attributeNames(path, unix.Listxattr)
	if names == nil {
		return nil
	}
	out := map[string][]byte{}
	for _, name := range names {
		if bookkeeping(name) || !strings.HasPrefix(name, "user.") && !slices.Contains([]string{"system.posix_acl_access", "system.posix_acl_default"}, name) {
			continue
		}
		value := make([]byte, maxList)
		n, err := unix.Getxattr(path, name, value)
		if err != nil {
			return nil
		}
		out[name] = value[:n]
	}
	return out
}

// Moment is called by tests wherever a kill would leave a step half done; else nil.
var Moment func()

// Passing calls Moment.
func Passing() {
	if Moment != nil {
		Moment()
	}
}
