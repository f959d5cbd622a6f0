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

// OpenOwn opens a file of ours, also one whose reading the command forbade. What is opened by its
// number is not offered to the poller, which takes no files.
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

// NewestIn is the latest time at which something in a folder was changed, or a folder made.
func NewestIn(fd int) (newest [2]int64, err error) {
	err = EachBelow(fd, func(st Stat) error {
		changed := st.Changed
		if st.IsFolder() && st.Born != [2]int64{} { // names that go from it are no changes of what is left
			changed = st.Born
		}
		if Later(changed, newest) {
			newest = changed
		}
		return nil
	})
	return newest, err
}

// EachBelow calls do for all that is below a folder.
func EachBelow(fd int, do func(Stat) error) error {
	names, err := Names(fd)
	if err != nil {
		return err
	}
	for _, name := range names {
		st, err := At(fd, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = do(st)
		}
		if err != nil {
			return err
		}
		if !st.IsFolder() {
			continue
		}
		sub, err := OpenBeneath(fd, name)
		if err != nil {
			return err
		}
		err = EachBelow(sub, do)
		_ = unix.Close(sub)
		if err != nil {
			return err
		}
	}
	return nil
}

// Names are the names in an open folder, also one that was opened by its path alone.
func Names(fd int) ([]string, error) {
	again, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(again), "folder")
	defer f.Close()
	return f.Readdirnames(-1)
}

// OpenFolder gives this user the rights to a folder that the command took away. They are put back
// before it is applied.
func OpenFolder(at string, st Stat) error {
	if st.Mode&0o700 == 0o700 {
		return nil
	}
	return unix.Chmod(at, st.Mode&0o7777|0o700)
}

// IsWhiteout reports the entry by which the kernel marks a removed one.
func IsWhiteout(at string) bool {
	var st unix.Stat_t
	return unix.Lstat(at, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0
}

// overlayAttribute begins the attributes that the kernel sets on entries of upper folders.
const overlayAttribute = "user.overlay."

// IsOpaque reports a folder that shows nothing of what lies below it.
func IsOpaque(at string) bool {
	value := make([]byte, 4)
	n, err := unix.Lgetxattr(at, overlayAttribute+"opaque", value)
	return err == nil && string(value[:n]) == "y"
}

// maxList is how long the kernel lets a list of attributes be, and a value (xattr(7)).
const maxList = 64 << 10

// attributeNames lists the attributes of an entry. It is nil where they cannot be read.
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

// bookkeeping reports an attribute by which the kernel or the listener remembers something.
func bookkeeping(name string) bool {
	return strings.HasPrefix(name, overlayAttribute) || name == seccomptrace.Moved
}

// Strip removes the attributes that are bookkeeping.
func Strip(at string, st Stat) error {
	var err error
	for _, name := range attributeNames(at, unix.Llistxattr) {
		if !bookkeeping(name) {
			continue
		}
		if e := unix.Lremovexattr(at, name); e == unix.EACCES { // a file that its owner may not write
			err = errors.Join(err, unix.Chmod(at, st.Mode&0o7777|0o600), unix.Lremovexattr(at, name), unix.Chmod(at, st.Mode&0o7777))
		} else {
			err = errors.Join(err, e)
		}
	}
	return err
}

// SameAttributes compares the attributes of two entries, but for the kernel's and our own. Where
// they cannot be read they count as the same.
func SameAttributes(a, b int) bool {
	x, y := AttributesOf(a), AttributesOf(b)
	return x == nil || y == nil || maps.EqualFunc(x, y, bytes.Equal)
}

// HasOrigin reports an entry that the kernel copied up.
func HasOrigin(at string) bool {
	_, err := unix.Lgetxattr(at, overlayAttribute+"origin", nil)
	return err == nil
}

// BlockSize is how much of two files is compared at once.
const BlockSize = 64 << 10

// CompareContent compares a file of ours with the one below.
func CompareContent(ours, there *os.File, size, below int64) (Content, error) {
	most, at := min(size, below), int64(0)
	x, y := make([]byte, min(BlockSize, most)), make([]byte, min(BlockSize, most))
	for at < most {
		if at = skipHoles(ours, there, at, most); at == most {
			break
		}
		n := min(BlockSize, most-at)
		if err := errors.Join(ReadAll(ours, x[:n], at), ReadAll(there, y[:n], at)); err != nil {
			return Differs, err
		}
		if !bytes.Equal(x[:n], y[:n]) {
			return Differs, nil
		}
		at += n
	}
	switch {
	case size == below:
		return Same, nil
	case size > below:
		return Grown, nil
	}
	return Behind, nil
}

// ReadAll reads as many bytes as there must be. What is missing, because the file was cut
// meanwhile, counts as zeros.
func ReadAll(f *os.File, p []byte, at int64) error {
	n, err := f.ReadAt(p, at)
	clear(p[n:])
	if err == io.EOF {
		err = nil
	}
	return err
}

// skipHoles is the next place at which one of two files has data.
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

// Differences calls do for the blocks of a file that differ from ours, with both contents. What
// lies beyond the end of ours differs; what lies beyond that of the file is not in it.
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

// CopyData copies from a place on; where ours has holes, so has the file.
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

// Attire gives what a descriptor is of an owner, attributes, mode and, with times, the time of
// change. With keep it removes no attribute.
func Attire(fd int, st Stat, attributes map[string][]byte, times, keep bool) error {
	path := byDescriptor(fd)
	now, err := At(fd, "")
	if err != nil {
		return err
	}
	if now.UID != st.UID || now.GID != st.GID {
		if err := unix.Chown(path, int(st.UID), int(st.GID)); err != nil {
			return err
		}
		now.Mode = 0 // that may have changed it
	}
	if have := AttributesOf(fd); have != nil && attributes != nil {
		for name, value := range attributes {
			if old, ok := have[name]; !ok || !bytes.Equal(old, value) {
				if err := unix.Setxattr(path, name, value, 0); err != nil && err != unix.ENOTSUP {
					return err
				}
				now.Mode = 0 // a list of rights changes it
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

// AttributesOf are the extended attributes of what a descriptor is of, but for the kernel's own and
// those that only the system sets. It is nil where they cannot be read.
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

// Moment is called wherever a killed process would leave something half done; of tests, nil
// otherwise.
var Moment func()

// Passing is one of those moments.
func Passing() {
	if Moment != nil {
		Moment()
	}
}
