//go:build amd64 || arm64

package seccomptrace

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// A path socket is reachable through any mount and by any name of its inode. So this process
// connects in the command's place: it copies the address and the descriptor, opens the path itself,
// and decides by the opened inode. No call continues after a check, because the command could
// change its memory, its descriptors and the names meanwhile.
//
// A command reaches the sockets on which it called listen(2), and those opened by the outside
// process (elsewhere_linux.go). The kernel reports the inode to which a socket is bound, whatever
// its names are (SIOCUNIXFILE). An inode is kept open so that its number is not reused.

// mostSockets limits the known sockets. Those without a name are dropped first.
const mostSockets = 512

// mostConnects limits the calls waiting for a server at a time.
const mostConnects = 256

const (
	sysPidfdGetfd = 438
	pidfdThread   = syscall.O_EXCL // PIDFD_THREAD, since Linux 6.9
	ioctlUnixFile = 0x89e0         // SIOCUNIXFILE, since Linux 4.10
	maxAddress    = 128            // struct sockaddr_storage
	pathOffset    = 2              // sun_path in struct sockaddr_un
	mostUnix      = 110            // struct sockaddr_un
)

// inode identifies a file while it is open.
type inode struct{ dev, ino uint64 }

// copied duplicates a descriptor from the calling process.
func (w *Listener) copied(n *notice, fd uint64) (int, syscall.Errno) {
	of, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(n.pid), pidfdThread, 0)
	if errno == syscall.EINVAL {
		of, _, errno = syscall.Syscall(sysPidfdOpen, uintptr(processOf(int(n.pid))), 0, 0)
	}
	if errno != 0 {
		return -1, syscall.EACCES
	}
	defer syscall.Close(int(of))
	own, _, errno := syscall.Syscall(sysPidfdGetfd, of, uintptr(uint32(fd)), 0)
	switch {
	case errno == syscall.EPERM: // the process protects its memory (PR_SET_DUMPABLE)
		return -1, syscall.EACCES
	case errno != 0:
		return -1, errno
	case !w.stillAsks(n): // the id may belong to another process by now
		_ = syscall.Close(int(own))
		return -1, syscall.EACCES
	}
	return int(own), 0
}

// stillAsks reports whether the calling process still waits for its response, so that its id is
// still valid.
func (w *Listener) stillAsks(n *notice) bool {
	id := n.id
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(w.fd), ioctlStillThere, uintptr(unsafe.Pointer(&id)))
	return errno == 0
}

// listens records the inode of a socket before it listens; others cannot be reached. It returns
// true if it has performed the call itself.
func (w *Listener) listens(n *notice) (reply, bool) {
	fd, errno := w.copied(n, n.args[0])
	if errno != 0 {
		return reply{}, false
	}
	defer syscall.Close(fd)
	switch domain, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_DOMAIN); {
	case err != nil:
		return reply{}, false
	case domain != syscall.AF_UNIX:
		return w.serves(n, fd)
	}
	at, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), ioctlUnixFile, 0)
	if errno == 0 {
		w.remember(int(at))
	}
	return reply{}, false
}

func (w *Listener) remember(fd int) {
	var st syscall.Stat_t
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sockets) >= mostSockets {
		for id, kept := range w.sockets {
			if syscall.Fstat(kept, &st) == nil && st.Nlink == 0 {
				_ = syscall.Close(kept)
				delete(w.sockets, id)
			}
		}
	}
	if syscall.Fstat(fd, &st) != nil || len(w.sockets) >= mostSockets {
		_ = syscall.Close(fd)
		return
	}
	id := inode{uint64(st.Dev), st.Ino}
	if old, known := w.sockets[id]; known {
		_ = syscall.Close(old)
	}
	w.sockets[id] = fd
}

// connect performs connect(2). It returns false if the response follows later.
func (w *Listener) connect(n *notice) (reply, bool) {
	fail := func(errno syscall.Errno) (reply, bool) { return reply{id: n.id, errno: -int32(errno)}, true }
	size := int32(n.args[2])
	if size < 0 || size > maxAddress {
		return fail(syscall.EINVAL)
	}
	address := n.read(n.args[1], int(size))
	if len(address) < int(size) {
		return fail(syscall.EFAULT)
	}
	fd, errno := w.copied(n, n.args[0])
	if errno != 0 {
		return fail(errno)
	}
	domain, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_DOMAIN)
	if err != nil {
		_ = syscall.Close(fd)
		return fail(errnoOf(err))
	}
	c := connection{asked: *n, fd: fd, target: -1, address: address}
	if domain == syscall.AF_UNIX {
		if errno := w.lead(&c); errno != 0 {
			c.close()
			return fail(errno)
		}
	} else {
		c.outsideQuestion = w.foreign(fd, address)
	}
	flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
	if flags&syscall.O_NONBLOCK != 0 && c.outsideQuestion == "" {
		return w.perform(c), true
	}
	select {
	case w.waiting <- struct{}{}:
	default:
		c.close()
		return fail(syscall.EAGAIN)
	}
	go func() {
		r := w.perform(c)
		w.send(&r)
		<-w.waiting
	}()
	return reply{}, false
}

// connection is an allowed connect(2).
type connection struct {
	asked           notice
	fd, target      int // the socket, and its opened path or -1
	address         []byte
	outsideQuestion string        // question to the outside process, or ""
	refusal         syscall.Errno // error for a path socket elsewhere if the answer is no
}

// perform connects and closes the connection's descriptors.
func (w *Listener) perform(c connection) reply {
	defer func() { c.close() }()
	if c.outsideQuestion != "" {
		if errno := w.elsewhere(&c); errno != 0 {
			return reply{id: c.asked.id, errno: -int32(errno)}
		}
	}
	var at unsafe.Pointer
	if len(c.address) > 0 {
		at = unsafe.Pointer(&c.address[0])
	}
	_, _, errno := syscall.Syscall(syscall.SYS_CONNECT, uintptr(c.fd), uintptr(at), uintptr(len(c.address)))
	return reply{id: c.asked.id, errno: -int32(errno)}
}

func (c *connection) close() {
	_ = syscall.Close(c.fd)
	if c.target >= 0 {
		_ = syscall.Close(c.target)
	}
}

// lead replaces a local socket's path by that of its inode, opened here, if the command may reach
// it.
//
// Abstract names are local to the command's network, so they are its own.
func (w *Listener) lead(c *connection) syscall.Errno {
	a := c.address
	if len(a) <= pathOffset || len(a) > mostUnix || uint16(a[0])|uint16(a[1])<<8 != syscall.AF_UNIX {
		return syscall.EINVAL
	}
	if a[pathOffset] == 0 {
		return 0
	}
	name, _, _ := strings.Cut(string(a[pathOffset:]), "\x00")
	target, errno := w.target(c, name)
	if errno == 0 && c.outsideQuestion == "" {
		c.leadTo(target)
	}
	return errno
}

// leadTo points a connection's address to an open inode.
func (c *connection) leadTo(target int) {
	c.target = target
	c.address = append(append(c.address[:pathOffset:pathOffset], "/proc/self/fd/"+strconv.Itoa(target)...), 0)
}

// target opens a path to one of the command's sockets. For other paths it sets elsewhere if there
// is someone to ask.
func (w *Listener) target(c *connection, name string) (int, syscall.Errno) {
	n := &c.asked
	path := n.absolute(name)
	fd, err := syscall.Open(path, oPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		if at, err := os.Readlink("/proc/" + strconv.Itoa(int(n.pid)) + "/cwd"); err == nil && name[0] != '/' {
			path = at + "/" + name
		}
		return w.notOwn(c, path, errnoOf(err))
	}
	var st syscall.Stat_t
	if err = syscall.Fstat(fd, &st); err == nil && w.ownSocket(inode{uint64(st.Dev), st.Ino}) {
		return fd, 0
	}
	defer syscall.Close(fd)
	at, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	return w.notOwn(c, at, syscall.ECONNREFUSED)
}

// notOwn handles a path without one of the command's sockets.
func (w *Listener) notOwn(c *connection, path string, errno syscall.Errno) (int, syscall.Errno) {
	if w.asks > 0 && path != "" {
		c.outsideQuestion, c.refusal = "unix:"+path, errno
		return -1, 0
	}
	return -1, errno
}

func (w *Listener) ownSocket(id inode) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known := w.sockets[id]
	return known
}

// absolute returns a path valid in this process. Both processes have the same root, because the
// filter forbids changing it.
func (n *notice) absolute(name string) string {
	own := "/proc/" + strconv.Itoa(int(n.pid)) + "/"
	for _, same := range [][2]string{{"/proc/self/", ""}, {"/proc/thread-self/", ""}, {"/dev/fd/", "fd/"}} {
		if rest, ok := strings.CutPrefix(name, same[0]); ok {
			return own + same[1] + rest
		}
	}
	if name[0] == '/' {
		return name
	}
	return own + "cwd/" + name
}
