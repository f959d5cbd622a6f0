package overlay

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mostLeases bounds the files that are kept open between the decision and the writing.
const mostLeases = 256

// Times that a lease is tried for: the kernel closes the files of a command a moment after its end.
const (
	leaseTries = 4
	leasePause = 5 * time.Millisecond
)

// hold takes a write lease on a file: the kernel gives one only while nobody else has the file open
// or mapped. It stays until freeLeases. Where another program has the file, it says which.
func (v *View) hold(c *Change, st Stat) (who string, held bool) {
	if v.leases[st.inode()] != nil {
		return "", false
	}
	path := c.Path
	if c.From != nil {
		path = c.From.Path
	}
	f, err := v.lease(c.Root, path)
	switch {
	case err == nil && len(v.leases) < mostLeases:
		if v.leases == nil {
			v.leases = map[inode]*os.File{}
		}
		v.leases[st.inode()] = f
		return "", false
	case err == nil:
		_ = f.Close()
		return "", false
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ETXTBSY):
		return holder(st.inode()), true
	}
	who = holder(st.inode()) // this file system, or its owner, has no leases
	return who, who != ""
}

// DatabaseInUse says which other program has a database open, as the end of a sentence. It is empty
// where none has, or where the file is no database.
func DatabaseInUse(path string) string {
	st, err := StatOf(path)
	if err != nil || !st.IsFile() || !isDatabase(path) {
		return ""
	}
	f, err := takeLease(unix.AT_FDCWD, path)
	if err == nil {
		_ = f.Close()
		return ""
	}
	who := holder(st.inode())
	if who == "" && (err == unix.EAGAIN || err == unix.ETXTBSY) {
		who = ": one that cannot be seen"
	}
	return who
}

// lease opens a file for writing and takes a lease on it.
func (v *View) lease(root int, path string) (*os.File, error) {
	at, err := v.beneath(root, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer unix.Close(at)
	return takeLease(at, filepath.Base(path))
}

func takeLease(at int, name string) (*os.File, error) {
	fd, err := openForWriting(at, name)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK)
		if err != unix.EAGAIN || try == leaseTries {
			break
		}
		time.Sleep(leasePause)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// openForWriting opens a file, also where its owner may not write to it.
func openForWriting(at int, name string) (int, error) {
	const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	fd, err := unix.Openat(at, name, flags, 0)
	if err != unix.EACCES {
		return fd, err
	}
	st, err := statAt(at, name)
	if err != nil || !st.IsFile() || int(st.UID) != os.Geteuid() {
		return -1, unix.EACCES
	}
	own, err := unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(own)
	if err := unix.Chmod(byDescriptor(own), st.Mode&0o7777|0o600); err != nil {
		return -1, err
	}
	fd, err = unix.Openat(at, name, flags, 0)
	if back := unix.Chmod(byDescriptor(own), st.Mode&0o7777); back != nil && err == nil {
		_ = unix.Close(fd)
		return -1, back
	}
	return fd, err
}

// byDescriptor is a path of what a descriptor is of.
func byDescriptor(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// freeLeases lets other programs open the files again.
func (v *View) freeLeases() {
	for _, f := range v.leases {
		_ = f.Close()
	}
	v.leases = nil
}

// openFiles calls do for the files that other programs have open, as far as they can be seen, until
// it returns false.
func openFiles(do func(pid, fd int, path string) bool) {
	self := os.Getpid()
	processes, _ := os.ReadDir("/proc")
	for _, e := range processes {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == self {
			continue
		}
		dir := filepath.Join("/proc", e.Name(), "fd")
		fds, _ := os.ReadDir(dir)
		for _, e := range fds {
			fd, _ := strconv.Atoi(e.Name())
			if !do(pid, fd, filepath.Join(dir, e.Name())) {
				return
			}
		}
	}
}

// writersOf lists the files that other programs have open for writing, with their processes.
func writersOf() map[inode][]int {
	out := map[inode][]int{}
	openFiles(func(pid, fd int, path string) bool {
		if st, ok := writing(pid, fd, path); ok {
			out[st.inode()] = append(out[st.inode()], pid)
		}
		return true
	})
	return out
}

// writing looks at an open regular file, and reports whether it is open for writing.
func writing(pid, fd int, path string) (Stat, bool) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return Stat{}, false
	}
	info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", pid, fd))
	if err != nil {
		return Stat{}, false
	}
	_, flags, _ := strings.Cut(string(info), "flags:")
	mode, err := strconv.ParseInt(strings.TrimSpace(flags[:max(0, strings.IndexByte(flags, '\n'))]), 8, 64)
	return Stat{Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size}, err == nil && mode&unix.O_ACCMODE != unix.O_RDONLY //nolint:unconvert // another size elsewhere
}

// holder names a program that has a file open or mapped, as the end of a sentence; empty where none
// is seen.
func holder(file inode) (who string) {
	openFiles(func(pid, _ int, path string) bool {
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil && uint64(st.Dev) == file.dev && st.Ino == file.ino { //nolint:unconvert // another size elsewhere
			who = program(pid)
		}
		return who == ""
	})
	if who != "" {
		return who
	}
	maps, _ := filepath.Glob("/proc/[0-9]*/maps") // the pattern is sound
	for _, path := range maps {
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		if pid != os.Getpid() && mapped(path, file) {
			return program(pid)
		}
	}
	return ""
}

// mapped looks for a file in the list of a process's mappings (proc_pid_maps(5)).
func mapped(path string, file inode) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	device := fmt.Sprintf("%02x:%02x", unix.Major(file.dev), unix.Minor(file.dev))
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 5 && fields[3] == device && fields[4] == strconv.FormatUint(file.ino, 10) {
			return true
		}
	}
	return false
}

func program(pid int) string {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return fmt.Sprintf(": %s (process %d)", strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, string(name)), pid)
}

// lockedByOthers reports a lock on a file (proc_locks(5)); leases are none.
func lockedByOthers(file inode) bool {
	data, err := os.ReadFile("/proc/locks")
	if err != nil {
		return false
	}
	at := fmt.Sprintf("%02x:%02x:%d", unix.Major(file.dev), unix.Minor(file.dev), file.ino)
	self := strconv.Itoa(os.Getpid())
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if slices.Contains(fields, at) && !slices.Contains(fields, "LEASE") && !slices.Contains(fields, self) {
			return true
		}
	}
	return false
}

// Watch notes how long the files in the roots are that other programs have open for writing, so
// that what these append while the command runs is told from what the command does. It ends with
// stop.
func (v *View) Watch(stop <-chan struct{}) {
	sizes := map[inode]int64{}
	openFiles(func(pid, fd int, path string) bool {
		select {
		case <-stop:
			return false
		default:
		}
		target, err := os.Readlink(path)
		if err != nil || !slices.ContainsFunc(v.roots, func(r Root) bool { return strings.HasPrefix(target, r.Path+"/") }) {
			return true
		}
		if st, ok := writing(pid, fd, path); ok {
			sizes[st.inode()] = st.Size
		}
		return true
	})
	v.sizes.Store(&sizes)
}

// sizeAtStart is how long a file was when the command began, where another program had it open for
// writing.
func (v *View) sizeAtStart(st Stat) (int64, bool) {
	sizes := v.sizes.Load()
	if sizes == nil {
		return 0, false
	}
	size, ok := (*sizes)[st.inode()]
	return size, ok
}
