//go:build amd64 || arm64

package seccomptrace

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

const (
	atFDCWD  = -100
	noFollow = 0x100    // AT_SYMLINK_NOFOLLOW
	oPath    = 0x200000 // O_PATH
	readOnly = 1        // ST_RDONLY of statfs(2)

	sysStatxAttributes = 8      // offset in struct statx
	attrMountRoot      = 0x2000 // STATX_ATTR_MOUNT_ROOT, since Linux 5.8
)

// path judges a call by what it would write.
func (w *Witness) path(n *notice, c call) {
	path, ok := n.path(c.at, c.path)
	if !ok {
		return
	}
	if w.tell.to != nil {
		w.changed(n, c, path)
	}
	if w.only {
		return
	}
	switch c.act {
	case opens:
		w.opened(n, path, n.openFlags(c))
	case changes: // rules do not hold that
		if held, _ := w.held(path); held && w.write == nil {
			w.noteReal(n, Written, path)
		}
	case makes:
		w.made(n, path)
	case removes:
		w.removed(n, path)
	case moves:
		w.removed(n, path)
		to, ok := n.path(2, 3)
		if c.at < 0 {
			to, ok = n.path(-1, 1)
		}
		if ok && !w.removed(n, to) {
			w.made(n, to)
		}
	}
}

func (n *notice) openFlags(c call) uint64 {
	if c.flags < 0 {
		return writing // creat(2)
	}
	if c.act == opensHow {
		how := n.read(n.args[c.flags], 8)
		if len(how) < 8 {
			return 0
		}
		return binary.NativeEndian.Uint64(how)
	}
	return n.args[c.flags]
}

// opened judges an open(2). A device, a pipe or a socket can be written on a mount that is read
// only.
func (w *Witness) opened(n *notice, path string, flags uint64) {
	held, is := w.held(path)
	switch {
	case flags&writing == 0, is && !held:
	case !is && flags&syscall.O_CREAT != 0:
		w.made(n, path)
	case !is, flags&(syscall.O_CREAT|syscall.O_EXCL) == syscall.O_CREAT|syscall.O_EXCL:
	default:
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && flags&(syscall.O_WRONLY|syscall.O_RDWR|syscall.O_TRUNC) != 0 {
			w.noteReal(n, Written, path)
		} else if err == nil && info.IsDir() && w.fixed(path) { // it stands where a file must not come to be
			w.noteReal(n, Fixed, path)
		}
	}
}

// made judges the making of a name. One that is there is an error of its own.
func (w *Witness) made(n *notice, path string) {
	dir, _ := split(path)
	switch held, is := w.held(dir); {
	case held && !there(path):
		w.noteReal(n, Made, path)
	case !is:
		if at, ok := spelled(path); ok {
			w.note(n, Fact{Absent, at})
		}
	}
}

// spelled is a path of which not all is there, as it was asked for. Below a folder of the process's
// own nothing is hidden, but a path may lead up and out of it.
func spelled(path string) (string, bool) {
	if !strings.HasPrefix(path, "/proc/") {
		return path, true
	}
	steps := strings.SplitN(path, "/", 5) // "", "proc", the process, "cwd", the rest
	if len(steps) == 5 && steps[3] == "fd" {
		number, rest, _ := strings.Cut(steps[4], "/")
		steps = append(steps[:3], steps[3]+"/"+number, rest)
	}
	if len(steps) < 5 || !strings.Contains("/"+steps[4]+"/", "/../") {
		return "", false
	}
	at, ok := real(strings.Join(steps[:4], "/"))
	return at + "/" + steps[4], ok
}

// removed judges the taking away of a name. One that is not there is an error of its own, and the
// root of a mount cannot be taken from its place.
func (w *Witness) removed(n *notice, path string) bool {
	dir, _ := split(path)
	held, _ := w.held(dir)
	switch {
	case held && there(path):
		w.noteReal(n, Made, path)
	case !held && w.fixed(path):
		w.noteReal(n, Fixed, path)
	default:
		return false
	}
	return true
}

// held reports whether the walls keep something from being written, and whether it is there.
func (w *Witness) held(path string) (held, is bool) {
	if w.write == nil {
		var fs syscall.Statfs_t
		err := syscall.Statfs(path, &fs)
		return err == nil && fs.Flags&readOnly != 0, err == nil
	}
	at, ok := real(path)
	for _, allowed := range w.write {
		if at == allowed || strings.HasPrefix(at, allowed+"/") {
			return false, ok
		}
	}
	return ok, ok
}

func there(path string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(path, &st) == nil
}

// fixed reports that a path is the root of a mount (statx(2)).
func (w *Witness) fixed(path string) bool {
	if w.write != nil {
		return false
	}
	name, err := syscall.BytePtrFromString(path)
	if err != nil {
		return false
	}
	var buf [256]byte
	folder := atFDCWD
	_, _, errno := syscall.Syscall6(sysStatx, uintptr(folder), uintptr(unsafe.Pointer(name)), noFollow, 0, uintptr(unsafe.Pointer(&buf)), 0)
	return errno == 0 && *(*uint64)(unsafe.Pointer(&buf[sysStatxAttributes]))&attrMountRoot != 0
}

// noteReal keeps a fact about a path, free of links but for its last name where that is not there.
func (w *Witness) noteReal(n *notice, kind Kind, path string) {
	if kind == Written {
		if at, ok := real(path); ok {
			w.note(n, Fact{kind, at})
		}
		return
	}
	dir, name := split(path)
	if at, ok := real(dir); ok {
		w.note(n, Fact{kind, strings.TrimSuffix(at, "/") + "/" + name})
	}
}

// real is the path of what a path leads to.
func real(path string) (string, bool) {
	fd, err := syscall.Open(path, oPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", false
	}
	defer syscall.Close(fd)
	at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	return at, err == nil && strings.HasPrefix(at, "/")
}

// split parts a path without making it simpler: what leads through a process's folder must not be.
func split(path string) (dir, name string) {
	path = strings.TrimRight(path, "/")
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/", path[i+1:]
	}
	return path[:i], path[i+1:]
}

// path is that of two arguments as this process can look it up, which sees the same tree: absolute,
// or through the folder of the one that asked.
func (n *notice) path(at, path int) (string, bool) {
	name, ok := n.text(n.args[path])
	if !ok || strings.HasPrefix(name, "/proc/self/") || strings.HasPrefix(name, "/proc/thread-self/") || strings.HasPrefix(name, "/dev/fd/") ||
		strings.HasPrefix(name, "/dev/std") {
		return "", false // these are another file for everybody
	}
	if name[0] == '/' {
		return name, true
	}
	from := "/proc/" + strconv.Itoa(int(n.pid)) + "/cwd/"
	if at >= 0 && int32(n.args[at]) != atFDCWD {
		from = "/proc/" + strconv.Itoa(int(n.pid)) + "/fd/" + strconv.Itoa(int(int32(n.args[at]))) + "/"
	}
	return from + name, true
}
