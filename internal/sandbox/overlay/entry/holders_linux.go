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

// Retries for a lease: the kernel closes a command's files shortly after its end.
const (
	leaseTries = 4
	leasePause = 5 * time.Millisecond
)

// DatabaseInUse names another program that has a database open, as the end of a sentence. It
// returns "" if there is none or the file is not a database.
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

// TakeLease opens a file with a write lease (fcntl(2)). EAGAIN means that somebody has it open.
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

// OpenForWriting opens a file even if its mode forbids writing.
func OpenForWriting(at int, name string) (int, error) {
	const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	fd, err := unix.Openat(at, name, flags, 0)
	if err != unix.EACCES {
		return fd, err
	}
	st, err := StatAt(at, name)
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

func byDescriptor(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// Holder names a program that has a file open or mapped, as the end of a sentence, or returns "".
func Holder(file ID) string {
	for _, kind := range []string{"fd/*", "maps"} {
		paths, _ := filepath.Glob("/proc/[0-9]*/" + kind) // the pattern is valid
		for _, path := range paths {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			var st unix.Stat_t
			switch {
			case pid == os.Getpid():
			case kind == "maps" && mapped(path, file), kind != "maps" && unix.Stat(path, &st) == nil && uint64(st.Dev) == file.dev && st.Ino == file.ino: //nolint:unconvert // another size elsewhere
				return program(pid)
			}
		}
	}
	return ""
}

// mapped searches a process's mappings for a file (proc_pid_maps(5)).
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

// LockedByOthers reports whether a file is locked (proc_locks(5)), leases aside.
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

// IsDatabase reports whether a file is an SQLite database (sqlite.org/fileformat.html).
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
