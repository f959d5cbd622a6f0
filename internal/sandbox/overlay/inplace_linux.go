package overlay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// piece is a part of a file as it was before a step wrote over it.
type piece struct {
	At   int64
	Data []byte
}

// saved is what a step notes before it changes a file: the attributes, then the pieces.
type saved struct {
	Stat       Stat
	Attributes map[string][]byte
}

func (x spot) savedFile() string { return filepath.Join(x.dir, fmt.Sprint("was-", x.Number)) }

// write makes the file at the place the same as ours, in the inode that is there, and only where
// both differ.
func (x spot) write() error {
	f, err := x.openLeased()
	if err != nil {
		return err
	}
	defer f.Close()
	ours, err := openOurs(x.ourPath(), x.Upper)
	if err != nil {
		return err
	}
	defer ours.Close()
	now, err := statAt(int(f.Fd()), "")
	if err != nil {
		return err
	}
	if _, begun := os.Lstat(x.savedFile()); begun == nil {
		if now.inode() != x.Lower.inode() || !x.between(f, ours, now.Size) {
			return conflict(WhyNewer)
		}
	} else {
		if x.Moved {
			now.Changed = x.Lower.Changed
		}
		if !alike(now, x.Lower) {
			return conflict(WhyNewer)
		}
		if err := x.save(f, ours, now); err != nil {
			return err
		}
	}
	passing()
	if err := x.copyOver(f, ours); err != nil {
		return err
	}
	passing()
	return x.wear(int(f.Fd()), ours)
}

// ourPath is where the command's version is: where the command put it, or where the step that
// renamed the file has moved it.
func (x spot) ourPath() string {
	path := filepath.Join(x.from, x.name)
	if st, err := statAt(unix.AT_FDCWD, path); x.Moved && (err != nil || st.inode() != x.Upper.inode()) {
		return filepath.Join(x.dir, x.Mover)
	}
	return path
}

// openLeased opens the file at the place with the lease that Apply took, or with a new one.
func (x spot) openLeased() (*os.File, error) {
	st, err := statAt(x.at, x.name)
	if err != nil || !st.IsFile() {
		return nil, conflict(WhyNewer)
	}
	if f := x.leases[st.inode()]; f != nil {
		delete(x.leases, st.inode())
		return f, nil
	}
	f, err := x.lease(x.Root, x.Path)
	if err == unix.EAGAIN || err == unix.ETXTBSY {
		return nil, conflict("another program has it open" + holder(st.inode()))
	}
	if err == nil {
		return f, nil
	}
	fd, err := openForWriting(x.at, x.name) // there are no leases here
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), x.name), nil
}

// save notes what the step will write over.
func (x spot) save(f, ours *os.File, now Stat) (err error) {
	to, err := os.OpenFile(x.savedFile()+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(to)
	out := json.NewEncoder(buffered)
	err = out.Encode(saved{now, attributesOf(int(f.Fd()))})
	if err == nil && ours != nil {
		err = differences(f, ours, now.Size, x.Upper.Size, func(at int64, data, _ []byte) error { return out.Encode(piece{at, data}) })
	}
	if err := errors.Join(err, buffered.Flush(), to.Close()); err != nil {
		return errors.Join(err, os.Remove(x.savedFile()+".new"))
	}
	return rename(x.savedFile()+".new", x.savedFile())
}

// load reads what was noted.
func (x spot) load(each func(piece) error) (saved, error) {
	f, err := os.Open(x.savedFile())
	if err != nil {
		return saved{}, err
	}
	defer f.Close()
	in := json.NewDecoder(bufio.NewReader(f))
	var s saved
	if err := in.Decode(&s); err != nil {
		return s, err
	}
	for {
		var p piece
		switch err := in.Decode(&p); err {
		case nil:
		case io.EOF:
			return s, nil
		default:
			return s, err
		}
		if err := each(p); err != nil {
			return s, err
		}
	}
}

// differences calls do for the blocks of a file that differ from ours, with both contents. What
// lies beyond the end of ours differs; what lies beyond that of the file is not in it.
func differences(f, ours *os.File, size, want int64, do func(at int64, data, wanted []byte) error) error {
	x, y := make([]byte, blockSize), make([]byte, blockSize)
	for at := int64(0); at < size; {
		if at = skipHoles(f, ours, at, size); at == size {
			return nil
		}
		n := min(blockSize, size-at)
		if err := errors.Join(readAll(f, x[:n], at), readAll(ours, y[:n], at)); err != nil {
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

var errBetween = errors.New("somebody else wrote to it")

// between reports that a file is what a killed process left: each byte is the one before the step,
// or ours.
func (x spot) between(f, ours *os.File, size int64) bool {
	was := map[int64][]byte{}
	s, err := x.load(func(p piece) error { was[p.At] = p.Data; return nil })
	if err != nil || size > max(s.Stat.Size, x.Upper.Size) {
		return false
	}
	err = differences(f, ours, size, x.Upper.Size, func(at int64, data, wanted []byte) error {
		for start, old := range was {
			for i := max(start, at); i < min(start+int64(len(old)), at+int64(len(data))); i++ {
				if data[i-at] == old[i-start] && i-at < int64(len(wanted)) {
					data[i-at] = wanted[i-at]
				} else if data[i-at] == old[i-start] {
					data[i-at] = 0
				}
			}
		}
		for i, b := range data {
			if i < len(wanted) && b != wanted[i] && (b != 0 || at+int64(i) < s.Stat.Size) || i >= len(wanted) && b != 0 {
				return errBetween
			}
		}
		return nil
	})
	return err == nil
}

// copyOver writes ours into a file, where it differs.
func (x spot) copyOver(f, ours *os.File) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	size := x.Upper.Size
	err = differences(f, ours, min(now.Size(), size), size, func(at int64, _, wanted []byte) error {
		passing()
		_, err := f.WriteAt(wanted, at)
		return err
	})
	if err != nil {
		return err
	}
	if now.Size() > size {
		return f.Truncate(size)
	}
	return copyData(f, ours, now.Size(), size)
}

// copyData copies from a place on; where ours has holes, so has the file.
func copyData(f, ours *os.File, at, size int64) error {
	if at == size {
		return nil
	}
	buf := make([]byte, blockSize)
	for at < size {
		if at = skipHoles(ours, ours, at, size); at == size {
			break
		}
		n := min(blockSize, size-at)
		if err := readAll(ours, buf[:n], at); err != nil {
			return err
		}
		if _, err := f.WriteAt(buf[:n], at); err != nil {
			return err
		}
		at += n
		passing()
	}
	info, err := f.Stat()
	if err == nil && info.Size() < size {
		err = f.Truncate(size)
	}
	return err
}

// restore gives a file its content and attributes of before the step.
func (x spot) restore() error {
	if _, err := os.Lstat(x.savedFile()); errors.Is(err, fs.ErrNotExist) {
		return nil // it was not begun
	}
	fd, err := unix.Openat(x.at, x.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if st, err := statAt(fd, ""); err != nil || st.inode() != x.Lower.inode() {
		return errors.Join(err, conflict(WhyNewer))
	}
	var f *os.File
	if x.Act == write {
		own, err := openForWriting(x.at, x.name)
		if err != nil {
			return err
		}
		f = os.NewFile(uintptr(own), x.name)
		defer f.Close()
	}
	s, err := x.load(func(p piece) error {
		_, err := f.WriteAt(p.Data, p.At)
		return err
	})
	if err == nil && f != nil {
		err = f.Truncate(s.Stat.Size)
	}
	if err != nil {
		return err
	}
	if err := attire(fd, s.Stat, s.Attributes, true, false); err != nil {
		return err
	}
	return os.Remove(x.savedFile())
}

// extend appends what the command appended, behind whatever others have appended meanwhile.
func (x spot) extend() error {
	ours, err := openOurs(x.ourPath(), x.Upper)
	if err != nil {
		return err
	}
	defer ours.Close()
	tail := make([]byte, x.Upper.Size-x.Fork)
	if err := readAll(ours, tail, x.Fork); err != nil {
		return err
	}
	now, err := statAt(x.at, x.name)
	if err != nil || now.inode() != x.Lower.inode() {
		return conflict(WhyNewer)
	}
	if leased := x.leases[now.inode()]; leased != nil { // it would keep us from opening it again
		delete(x.leases, now.inode())
		_ = leased.Close()
	}
	fd, err := unix.Openat(x.at, x.name, unix.O_RDWR|unix.O_APPEND|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), x.name)
	defer f.Close()
	begun, err := x.load(func(piece) error { return nil })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := x.save(f, nil, now); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		since := make([]byte, max(0, now.Size-begun.Stat.Size))
		if err := readAll(f, since, begun.Stat.Size); err != nil {
			return err
		}
		switch {
		case bytes.Contains(since, tail):
			tail = nil
		case len(since) > 0 && bytes.HasPrefix(tail, since):
			tail = tail[len(since):]
		}
	}
	passing()
	if _, err := f.Write(tail); err != nil {
		return err
	}
	passing()
	if x.Dress || x.Upper.Mode != x.Lower.Mode && !x.Newer(x.Lower) {
		return x.wear(fd, ours)
	}
	return nil
}

// shorten takes back what was appended, where nobody else has appended since.
func (x spot) shorten() error {
	s, err := x.load(func(piece) error { return nil })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	fd, err := openForWriting(x.at, x.name)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), x.name)
	defer f.Close()
	now, err := statAt(fd, "")
	switch {
	case err != nil:
		return err
	case now.inode() != x.Lower.inode() || now.Size > s.Stat.Size+x.Upper.Size-x.Fork:
		return conflict("another program appended to it")
	}
	return f.Truncate(s.Stat.Size)
}

// dress gives an entry the attributes of ours.
func (x spot) dress() error {
	fd, err := unix.Openat(x.at, x.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return conflict(WhyNewer)
	}
	defer unix.Close(fd)
	now, err := statAt(fd, "")
	if err != nil {
		return err
	}
	ours := x.Kind == New && x.Lower.inode() == x.Upper.inode() // it was put there
	if now.inode() != x.Lower.inode() && !(ours && x.abroad) || now.Mode&unix.S_IFMT != x.Lower.Mode&unix.S_IFMT {
		return conflict(WhyNewer)
	}
	if ours {
		return attire(fd, x.Upper, nil, true, true)
	}
	if _, err := os.Lstat(x.savedFile()); errors.Is(err, fs.ErrNotExist) {
		note, err := json.Marshal(saved{now, attributesOf(fd)})
		if err != nil {
			return err
		}
		if err := os.WriteFile(x.savedFile(), note, 0o600); err != nil {
			return err
		}
	}
	passing()
	from, err := unix.Open(x.ourPath(), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	attributes := attributesOf(from)
	if x.Kind == Merged && !hasOrigin(filepath.Join(x.from, x.name)) {
		attributes = nil // the folder was made for what lies in it, and knows none
	}
	return attire(fd, x.Upper, attributes, x.Times, x.Newer(x.Lower))
}

// wear gives an open file the attributes of ours.
func (x spot) wear(fd int, ours *os.File) error {
	st, newer := x.Upper, x.Newer(x.Lower)
	if now, err := statAt(fd, ""); err == nil && newer && x.Act == extend { // somebody else set those
		st.Mode, st.UID, st.GID = now.Mode, now.UID, now.GID
	}
	return attire(fd, st, attributesOf(int(ours.Fd())), x.Times, newer)
}

// attire gives what a descriptor is of an owner, attributes, mode and, with times, the time of
// change. With keep it removes no attribute.
func attire(fd int, st Stat, attributes map[string][]byte, times, keep bool) error {
	path := byDescriptor(fd)
	now, err := statAt(fd, "")
	if err != nil {
		return err
	}
	if now.UID != st.UID || now.GID != st.GID {
		if err := unix.Chown(path, int(st.UID), int(st.GID)); err != nil {
			return err
		}
		now.Mode = 0 // that may have changed it
	}
	if have := attributesOf(fd); have != nil && attributes != nil {
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

// attributesOf are the extended attributes of what a descriptor is of, but for the kernel's own and
// those that only the system sets. It is nil where they cannot be read.
func attributesOf(fd int) map[string][]byte {
	path := byDescriptor(fd)
	buf := make([]byte, 64<<10)
	n, err := unix.Listxattr(path, buf)
	if err != nil {
		return nil
	}
	out := map[string][]byte{}
	for name := range splitNames(buf[:n]) {
		if !strings.HasPrefix(name, "user.") && !slices.Contains([]string{"system.posix_acl_access", "system.posix_acl_default"}, name) {
			continue
		}
		value := make([]byte, 64<<10)
		n, err := unix.Getxattr(path, name, value)
		if err != nil {
			return nil
		}
		out[name] = value[:n]
	}
	return out
}
