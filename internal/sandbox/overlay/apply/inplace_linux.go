package apply

import (
	"bytes"
	"os"
	"path/filepath"

	"adze/internal/sandbox/overlay/entry"

	"golang.org/x/sys/unix"
)

// write copies the differences from the command's version into the existing inode.
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
	now, err := entry.StatAt(int(f.Fd()), "")
	if err != nil {
		return err
	}
	if x.Moved {
		now.Changed = x.Lower.Changed
	}
	switch {
	case x.begun.step == x.Number && now.ID() == x.Lower.ID():
		err = x.keepFound(f, ours, now.Size)
	case !alike(now, x.Lower):
		err = conflict(WhyNewer)
	default:
		err = x.begins()
	}
	if err != nil {
		return err
	}
	entry.Passing()
	if err := x.copyOver(f, ours); err != nil {
		return err
	}
	entry.Passing()
	return x.wear(int(f.Fd()), ours)
}

// ourPath returns the path of the command's version: the original one, or the one after a rename
// step moved it.
func (x spot) ourPath() string {
	path := filepath.Join(x.from, x.name)
	if st, err := entry.StatAt(unix.AT_FDCWD, path); x.Moved && (err != nil || st.ID() != x.Upper.ID()) {
		return filepath.Join(x.Dir, x.Mover)
	}
	return path
}

// openLeased opens the file with the lease from Apply or a new one.
func (x spot) openLeased() (*os.File, error) {
	st, err := entry.StatAt(x.dirfd, x.name)
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
	fd, err := entry.OpenForWriting(x.dirfd, x.name) // no leases here
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), x.name), nil
}

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

// extend appends the command's data behind data appended by others.
func (x spot) extend() error {
	ours, err := entry.OpenOwn(x.ourPath(), x.Upper)
	if err != nil {
		return err
	}
	defer ours.Close()
	tail := make([]byte, x.Upper.Size-x.Lower.Size)
	if err := entry.ReadAll(ours, tail, x.Lower.Size); err != nil {
		return err
	}
	now, err := entry.StatAt(x.dirfd, x.name)
	if err != nil || now.ID() != x.Lower.ID() {
		return conflict(WhyNewer)
	}
	if leased := x.Leases[now.ID()]; leased != nil { // a leased file cannot be opened again
		delete(x.Leases, now.ID())
		_ = leased.Close()
	}
	fd, err := unix.Openat(x.dirfd, x.name, unix.O_RDWR|unix.O_APPEND|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), x.name)
	defer f.Close()
	if x.begun.step == x.Number { // a killed process may have appended it
		since := make([]byte, max(0, now.Size-x.Lower.Size))
		if err := entry.ReadAll(f, since, x.Lower.Size); err != nil {
			return err
		}
		switch {
		case bytes.Contains(since, tail):
			tail = nil
		case bytes.HasPrefix(tail, since):
			tail = tail[len(since):]
		}
	} else if err := x.begins(); err != nil {
		return err
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

// dress gives an entry the command's attributes.
func (x spot) dress() error {
	fd, err := unix.Openat(x.dirfd, x.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return conflict(WhyNewer)
	}
	defer unix.Close(fd)
	now, err := entry.StatAt(fd, "")
	if err != nil {
		return err
	}
	if now.ID() != x.Lower.ID() {
		return conflict(WhyNewer)
	}
	entry.Passing()
	from, err := unix.Open(x.ourPath(), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	attributes := entry.AttributesOf(from)
	if x.Kind == Merged && !entry.HasOrigin(filepath.Join(x.from, x.name)) {
		attributes = nil // created only for its content, without attributes
	}
	return entry.SetAttributes(fd, x.Upper, attributes, x.Times, x.Newer(x.Lower))
}

func (x spot) wear(fd int, ours *os.File) error {
	st, newer := x.Upper, x.Newer(x.Lower)
	if now, err := entry.StatAt(fd, ""); err == nil && newer && x.Act == ActExtend { // set by somebody else
		st.Mode, st.UID, st.GID = now.Mode, now.UID, now.GID
	}
	return entry.SetAttributes(fd, st, entry.AttributesOf(int(ours.Fd())), x.Times, newer)
}
