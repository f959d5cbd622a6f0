package sign

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/files/filelock"
)

// lock keeps other processes from writing tables, until the function that it returns is called or
// this one ends.
func (f Folder) lock() (unlock func(), err error) {
	folder, err := os.OpenFile(f.Path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := filelock.TryFile(folder); err != nil {
		_ = folder.Close()
		if errors.Is(err, filelock.ErrHeld) {
			err = ErrBusy
		}
		return nil, err
	}
	return func() { _ = folder.Close() }, nil
}

// Version tells which table there is.
func (f Folder) Version(at Place) Version {
	var st unix.Stat_t
	if unix.Lstat(f.path(at), &st) != nil {
		return Version{}
	}
	return Version{st.Ino, time.Unix(st.Mtim.Unix())}
}

// used is how old the time of a table becomes before it is set anew.
const used = 24 * time.Hour

// Open maps the table of a place. One that is damaged, of somebody else or open to others is an
// error.
func (f Folder) Open(at Place) (*Table, error) {
	fd, err := unix.Open(f.path(at), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o077 != 0 || int(st.Uid) != os.Geteuid() || st.Size < headerSize || st.Size > maxSets*2 {
		return nil, errDamaged
	}
	data, err := unix.Mmap(fd, 0, int(st.Size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	t, err := guarded(data, at)
	if err != nil {
		return nil, errors.Join(err, unix.Munmap(data))
	}
	runtime.AddCleanup(t, func(data []byte) { _ = unix.Munmap(data) }, data)
	if now := time.Now(); now.Sub(time.Unix(st.Mtim.Unix())) > used {
		_ = os.Chtimes(f.path(at), now, now)
	}
	return t, nil
}

// forget takes a part of a map out of this process's memory; it is still in the system's, and comes
// back when it is read.
func forget(data []byte, from, to int) {
	page := os.Getpagesize()
	if from, to = from/page*page, to/page*page; from < to {
		_ = unix.Madvise(data[from:to], unix.MADV_DONTNEED)
	}
}

// guarded is parse of a file that somebody may cut meanwhile.
func guarded(data []byte, at Place) (*Table, error) {
	type result struct {
		t   *Table
		err error
	}
	r := func() (r result) {
		defer guard(&r)()
		r.t, r.err = parse(data, true, at)
		return r
	}()
	if r.t == nil && r.err == nil {
		r.err = errDamaged
	}
	return r.t, r.err
}

// local are the file systems that this kernel alone changes, by their numbers of statfs(2): the
// times of files on others may be old news.
func local(kind int64) bool {
	return slices.Contains([]int64{0xef53 /* ext */, 0x58465342 /* XFS */, 0x9123683e /* btrfs */, 0x01021994 /* tmpfs */, 0xf2f52010, /* f2fs */
		0x2fc12fc1 /* ZFS */, 0x794c7630 /* overlay */, 0xca451a4e /* bcachefs */, 0x3153464a /* JFS */, 0x52654973 /* reiserfs */}, kind&0xffffffff)
}

// PlaceOf is the place of a folder; if false, what changes in it does not show in the times of its
// files.
func PlaceOf(path string) (Place, bool) {
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Statfs(path, &fs) != nil || !local(int64(fs.Type)) || unix.Lstat(path, &st) != nil {
		return Place{}, false
	}
	return Place{Path: path, Device: st.Dev, Inode: st.Ino}, true
}

// StateOf is what says that a file is still the same.
func StateOf(st *unix.Stat_t) State {
	return State{Device: st.Dev, Inode: st.Ino, Size: st.Size, Modified: time.Unix(st.Mtim.Unix()), Changed: time.Unix(st.Ctim.Unix())}
}

// Version tells one table at a place from the next, and from what becomes of it when somebody
// writes into it; the zero value is that there is none.
type Version struct {
	inode    uint64
	modified time.Time
}
