package apply

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"adze/internal/sandbox/overlay/entry"

	"golang.org/x/sys/unix"
)

// write makes the file at the place the same as ours, in the inode that is there, and only where
// both differ.
func (x spot) write() error {
	f, err := x.openLeased()
	if err != nil {
		return err
	}
	defer f.Close()
	ours, err := entry.OpenOwn(x.ourPath(), x.Upper)
	if err != nil {
		return err
	}
	defer ours.Close()
	now, err := entry.At(int(f.Fd()), "")
	if err != nil {
		return err
	}
	if x.noted() {
		if now.ID() != x.Lower.ID() || !x.between(f, ours, now.Size) {
			return conflict(WhyNewer)
		}
	} else {
		if x.Moved {
			now.Changed = x.Lower.Changed
		}
		if !alike(now, x.Lower) {
			return conflict(WhyNewer)
		}
		if err := x.note(int(f.Fd()), f, ours, now); err != nil {
			return err
		}
	}
	entry.Passing()
	if err := x.copyOver(f, ours); err != nil {
		return err
	}
	entry.Passing()
	return x.wear(int(f.Fd()), ours)
}

// ourPath is where the command's version is: where the command put it, or where the step that
// renamed the file has moved it.
func (x spot) ourPath() string {
	path := filepath.Join(x.from, x.name)
	if st, err := entry.At(unix.AT_FDCWD, path); x.Moved && (err != nil || st.ID() != x.Upper.ID()) {
		return filepath.Join(x.Dir, x.Mover)
	}
	return path
}

// openLeased opens the file at the place with the lease that Apply took, or with a new one.
func (x spot) openLeased() (*os.File, error) {
	st, err := entry.At(x.at, x.name)
	if err != nil || !st.IsFile() {
		return nil, conflict(WhyNewer)
	}
	if f := x.Leases[st.ID()]; f != nil {
		delete(x.Leases, st.ID())
		return f, nil
	}
	f, err := x.Lease(x.Root, x.Path)
	if err == unix.EAGAIN || err == unix.ETXTBSY {
		return nil, conflict("another program has it open" + entry.Holder(st.ID()))
	}
	if err == nil {
		return f, nil
	}
	fd, err := entry.OpenForWriting(x.at, x.name) // there are no leases here
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), x.name), nil
}

var errBetween = errors.New("somebody else wrote to it")

// between reports that a file is what a killed process left: each byte is the one before the step,
// or ours.
func (x spot) between(f, ours *os.File, size int64) bool {
	was := map[int64][]byte{}
	st, _, err := x.before(func(at int64, data []byte) error { was[at] = data; return nil })
	if err != nil || size > max(st.Size, x.Upper.Size) {
		return false
	}
	err = entry.Differences(f, ours, size, x.Upper.Size, func(at int64, data, wanted []byte) error {
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
			if i < len(wanted) && b != wanted[i] && (b != 0 || at+int64(i) < st.Size) || i >= len(wanted) && b != 0 {
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
	err = entry.Differences(f, ours, min(now.Size(), size), size, func(at int64, _, wanted []byte) error {
		entry.Passing()
		_, err := f.WriteAt(wanted, at)
		return err
	})
	if err != nil {
		return err
	}
	if now.Size() > size {
		return f.Truncate(size)
	}
	return entry.CopyData(f, ours, now.Size(), size)
}

// restore gives a file its content and attributes of before the step.
func (x spot) restore() error {
	if !x.noted() {
		return nil // it was not begun
	}
	fd, err := unix.Openat(x.at, x.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if st, err := entry.At(fd, ""); err != nil || st.ID() != x.Lower.ID() {
		return errors.Join(err, conflict(WhyNewer))
	}
	var f *os.File
	if x.Act == ActWrite {
		own, err := entry.OpenForWriting(x.at, x.name)
		if err != nil {
			return err
		}
		f = os.NewFile(uintptr(own), x.name)
		defer f.Close()
	}
	st, attributes, err := x.before(func(at int64, data []byte) error {
		_, err := f.WriteAt(data, at)
		return err
	})
	if err == nil && f != nil {
		err = f.Truncate(st.Size)
	}
	if err != nil {
		return err
	}
	if err := entry.Attire(fd, st, attributes, true, false); err != nil {
		return err
	}
	return x.takenBack()
}

// extend appends what the command appended, behind whatever others have appended meanwhile.
func (x spot) extend() error {
	ours, err := entry.OpenOwn(x.ourPath(), x.Upper)
	if err != nil {
		return err
	}
	defer ours.Close()
	tail := make([]byte, x.Upper.Size-x.Fork)
	if err := entry.ReadAll(ours, tail, x.Fork); err != nil {
		return err
	}
	now, err := entry.At(x.at, x.name)
	if err != nil || now.ID() != x.Lower.ID() {
		return conflict(WhyNewer)
	}
	if leased := x.Leases[now.ID()]; leased != nil { // it would keep us from opening it again
		delete(x.Leases, now.ID())
		_ = leased.Close()
	}
	fd, err := unix.Openat(x.at, x.name, unix.O_RDWR|unix.O_APPEND|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), x.name)
	defer f.Close()
	begun, _, err := x.before(nil)
	switch {
	case !x.noted():
		if err := x.note(fd, nil, nil, now); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		since := make([]byte, max(0, now.Size-begun.Size))
		if err := entry.ReadAll(f, since, begun.Size); err != nil {
			return err
		}
		switch {
		case bytes.Contains(since, tail):
			tail = nil
		case len(since) > 0 && bytes.HasPrefix(tail, since):
			tail = tail[len(since):]
		}
	}
	entry.Passing()
	if _, err := f.Write(tail); err != nil {
		return err
	}
	entry.Passing()
	if x.Dress || x.Upper.Mode != x.Lower.Mode && !x.Newer(x.Lower) {
		return x.wear(fd, ours)
	}
	return nil
}

// shorten takes back what was appended, where nobody else has appended since.
func (x spot) shorten() error {
	if !x.noted() {
		return nil
	}
	was, _, err := x.before(nil)
	if err != nil {
		return err
	}
	fd, err := entry.OpenForWriting(x.at, x.name)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), x.name)
	defer f.Close()
	now, err := entry.At(fd, "")
	switch {
	case err != nil:
		return err
	case now.ID() != x.Lower.ID() || now.Size > was.Size+x.Upper.Size-x.Fork:
		return conflict("another program appended to it")
	}
	return f.Truncate(was.Size)
}

// dress gives an entry the attributes of ours.
func (x spot) dress() error {
	fd, err := unix.Openat(x.at, x.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return conflict(WhyNewer)
	}
	defer unix.Close(fd)
	now, err := entry.At(fd, "")
	if err != nil {
		return err
	}
	ours := x.Kind == New && x.Lower.ID() == x.Upper.ID() // it was put there
	if now.ID() != x.Lower.ID() && !(ours && x.abroad) || now.Mode&unix.S_IFMT != x.Lower.Mode&unix.S_IFMT {
		return conflict(WhyNewer)
	}
	if ours {
		return entry.Attire(fd, x.Upper, nil, true, true)
	}
	if !x.noted() {
		if err := x.note(fd, nil, nil, now); err != nil {
			return err
		}
	}
	entry.Passing()
	from, err := unix.Open(x.ourPath(), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	attributes := entry.AttributesOf(from)
	if x.Kind == Merged && !entry.HasOrigin(filepath.Join(x.from, x.name)) {
		attributes = nil // the folder was made for what lies in it, and knows none
	}
	return entry.Attire(fd, x.Upper, attributes, x.Times, x.Newer(x.Lower))
}

// wear gives an open file the attributes of ours.
func (x spot) wear(fd int, ours *os.File) error {
	st, newer := x.Upper, x.Newer(x.Lower)
	if now, err := entry.At(fd, ""); err == nil && newer && x.Act == ActExtend { // somebody else set those
		st.Mode, st.UID, st.GID = now.Mode, now.UID, now.GID
	}
	return entry.Attire(fd, st, entry.AttributesOf(int(ours.Fd())), x.Times, newer)
}
