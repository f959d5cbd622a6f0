//go:build amd64 || arm64

package seccomptrace

import (
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

const (
	noMagicLinks = 2  // RESOLVE_NO_MAGICLINKS
	mostLinks    = 40 // that the kernel follows, too

	errElsewhere = syscall.Errno(0xfff) // the path is none that the witness acts on
)

// entry is what a path of the command names, found and held open by the witness itself, so that
// nothing that the command does meanwhile makes it another.
type entry struct {
	dir   int    // its folder; if -1, it is known by a descriptor alone
	name  string // in the folder
	path  string // absolute and free of links
	fd    int    // of what is there; if -1, nothing is
	st    syscall.Stat_t
	slash bool // the path ended with one, so that it means a folder
}

func (e *entry) close() {
	if e == nil {
		return
	}
	for _, fd := range []int{e.dir, e.fd} {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
}

func (e *entry) there() bool      { return e.fd >= 0 }
func (e *entry) is(t uint32) bool { return e.there() && e.st.Mode&syscall.S_IFMT == t }

// self names what is there by the descriptor.
func (e *entry) self() string { return "/proc/self/fd/" + strconv.Itoa(e.fd) }

// find looks up the path in an argument of a call, relative to the folder in another; if -1, to the
// working folder.
func (n *notice) find(at, argument int, follow bool) (*entry, syscall.Errno) {
	text, ok := n.text(n.args[argument])
	if !ok {
		return nil, errElsewhere
	}
	return n.lookUp(at, text, follow)
}

// lookUp looks up a path that is not empty, relative to the folder in an argument; if -1, to the
// working folder.
func (n *notice) lookUp(at int, text string, follow bool) (*entry, syscall.Errno) {
	base := -1
	if text[0] != '/' {
		from := "/proc/" + strconv.Itoa(int(n.pid)) + "/cwd"
		if at >= 0 && int32(n.args[at]) != atFDCWD {
			from = "/proc/" + strconv.Itoa(int(n.pid)) + "/fd/" + strconv.Itoa(int(int32(n.args[at])))
		}
		fd, err := syscall.Open(from, oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return nil, errElsewhere
		}
		base = fd
	}
	defer func() {
		if base >= 0 {
			_ = syscall.Close(base)
		}
	}()
	for range mostLinks {
		if fd, ok := n.descriptor(text); ok {
			return n.opened(fd)
		}
		e, errno := n.step(base, text)
		if errno != 0 || !e.is(syscall.S_IFLNK) || !follow && !e.slash {
			return e, errno
		}
		target := make([]byte, maxPath)
		size, err := readlinkAt(e.fd, target)
		if err != nil || size == 0 {
			e.close()
			return nil, errElsewhere
		}
		text = string(target[:size])
		if e.slash {
			text += "/"
		}
		if base >= 0 {
			_ = syscall.Close(base)
		}
		base, e.dir = e.dir, -1
		e.close()
	}
	return nil, errElsewhere
}

// step opens the folder of a path, and what stands there under the last name, without following a
// link.
func (n *notice) step(base int, text string) (*entry, syscall.Errno) {
	if rest, ok := strings.CutPrefix(text, "/proc/self/"); ok {
		text = "/proc/" + n.process() + "/" + rest
	} else if rest, ok := strings.CutPrefix(text, "/proc/thread-self/"); ok {
		text = "/proc/" + strconv.Itoa(int(n.pid)) + "/" + rest
	}
	trimmed := strings.TrimRight(text, "/")
	i := strings.LastIndexByte(trimmed, '/')
	dir, name := trimmed[:i+1], trimmed[i+1:]
	if name == "" || name == "." || name == ".." {
		fd, errno := openIn(base, text+"/.", syscall.O_DIRECTORY)
		if errno != 0 {
			return nil, errElsewhere
		}
		return described(fd)
	}
	if dir == "" {
		dir = "."
	}
	e := &entry{name: name, fd: -1, slash: len(trimmed) < len(text)}
	var errno syscall.Errno
	if e.dir, errno = openIn(base, dir, syscall.O_DIRECTORY); errno != 0 {
		return nil, errElsewhere
	}
	folder, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(e.dir))
	if err != nil {
		e.close()
		return nil, errElsewhere
	}
	e.path = path.Join(folder, name)
	fd, err := syscall.Openat(e.dir, name, oPath|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err == syscall.ENOENT {
		return e, 0
	}
	if err == nil {
		e.fd = fd
		err = syscall.Fstat(fd, &e.st)
	}
	if err != nil {
		e.close()
		return nil, errElsewhere
	}
	return e, 0
}

// openIn opens a path for what it is, relative to a folder; if -1, it is absolute. Links of the
// kernel lead to what a process has, and would lead to what this one has.
func openIn(base int, text string, flags uint64) (int, syscall.Errno) {
	name, err := syscall.BytePtrFromString(text)
	if err != nil {
		return -1, syscall.EINVAL
	}
	how := [3]uint64{oPath | syscall.O_CLOEXEC | flags, 0, noMagicLinks}
	fd, _, errno := syscall.Syscall6(sysOpenat2, uintptr(base), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	return int(fd), errno
}

// readlinkAt reads the link that a descriptor is of.
func readlinkAt(fd int, buf []byte) (int, error) {
	empty := [1]byte{}
	size, _, errno := syscall.Syscall6(syscall.SYS_READLINKAT, uintptr(fd), uintptr(unsafe.Pointer(&empty)), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(size), nil
}

// process is the id of the process that asked.
func (n *notice) process() string { return n.status("Tgid:") }

// umask is that of the process that asked.
func (n *notice) umask() (int, bool) {
	mask, err := strconv.ParseUint(n.status("Umask:"), 8, 16)
	return int(mask), err == nil
}

func (n *notice) status(field string) string {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(int(n.pid)) + "/status")
	_, rest, _ := strings.Cut(string(status), field)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// descriptor is the one of the process that asked which a path names.
func (n *notice) descriptor(text string) (int, bool) {
	for i, name := range []string{"/dev/stdin", "/dev/stdout", "/dev/stderr"} {
		if text == name {
			return i, true
		}
	}
	rest, ok := strings.CutPrefix(text, "/dev/fd/")
	if !ok && strings.HasPrefix(text, "/proc/") {
		if rest, ok = strings.CutPrefix(text, "/proc/self/fd/"); !ok {
			rest, ok = strings.CutPrefix(text, "/proc/"+n.process()+"/fd/")
		}
	}
	if !ok {
		return 0, false
	}
	fd, err := strconv.ParseUint(rest, 10, 31)
	return int(fd), err == nil
}

// opened is what a descriptor of the process that asked is of.
func (n *notice) opened(fd int) (*entry, syscall.Errno) {
	own, err := syscall.Open("/proc/"+strconv.Itoa(int(n.pid))+"/fd/"+strconv.Itoa(fd), oPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, errElsewhere
	}
	return described(own)
}

// described is what a descriptor of this process is of.
func described(fd int) (*entry, syscall.Errno) {
	e := &entry{dir: -1, fd: fd}
	err := syscall.Fstat(fd, &e.st)
	if err == nil {
		e.path, err = os.Readlink(e.self())
	}
	if err != nil {
		e.close()
		return nil, errElsewhere
	}
	return e, 0
}
