package entry

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Times that a lease is tried for: the kernel closes the files of a command a moment after its end.
const (
	leaseTries = 4
	leasePause = 5 * time.Millisecond
)

// DatabaseInUse says which other program has a database open, as the end of a sentence. It is empty
// where none has, or where the file is no database.
func DatabaseInUse(path string) string {
	st, err := StatOf(path)
	if err != nil || !st.IsFile() || !IsDatabase(path) {
		return ""
	}
	f, err := TakeLease(unix.AT_FDCWD, path)
	if err == nil {
		_ = f.Close()
		return ""
	}
	who := Holder(st.ID())
	if who == "" && (err == unix.EAGAIN || err == unix.ETXTBSY) {
		who = ": one that cannot be seen"
	}
	return who
}

// TakeLease opens a file with a write lease (fcntl(2)). EAGAIN says that somebody has it open.
func TakeLease(at int, name string) (*os.File, error) {
	fd, err := OpenForWriting(at, name)
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

// OpenForWriting opens a file, also where its owner may not write to it.
func OpenForWriting(at int, name string) (int, error) {
	const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	fd, err := unix.Openat(at, name, flags, 0)
	if err != unix.EACCES {
		return fd, err
	}
	st, err := At(at, name)
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

// Holder names a program that has a file open or mapped, as the end of a sentence; empty where none
// is seen.
func Holder(file ID) string {
	for _, kind := range []string{"fd/*", "maps"} {
		paths, _ := filepath.Glob("/proc/[0-9]*/" + kind) // the pattern is sound
		for _, path := range paths {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			var st unix.Stat_t
			switch {
			case pid == os.Getpid():
			case kind == "maps" && mapped(path, file), kind != "maps" && unix.Stat(path, &st) == nil && ID{uint64(st.Dev), st.Ino} == file: //nolint:unconvert // another size elsewhere
				return program(pid)
			}
		}
	}
	return ""
}

// mapped looks for a file in the list of a process's mappings (proc_pid_maps(5)).
func mapped(path string, file ID) bool {
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

// LockedByOthers reports a lock on a file (proc_locks(5)); leases are none.
func LockedByOthers(file ID) bool {
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

// IsDatabase reports a database of SQLite (sqlite.org/fileformat.html).
func IsDatabase(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 16)
	_, err = f.ReadAt(head, 0)
	return err == nil && string(head) == "SQLite format 3\x00"
}
