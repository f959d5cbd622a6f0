//go:build amd64 || arm64

package seccomptrace

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// A socket with a path name is reached through any mount, and by any name that its inode has. So
// this process connects in the command's place: it copies the address and the descriptor, opens the
// path itself, and decides by the inode that it has opened. Nothing goes on after a check: the
// command could change its memory, its descriptors and the names meanwhile.
//
// Reachable are the inodes of sockets that listen(2) was called for here, and what another process
// leads to (elsewhere_linux.go). The kernel says which
// inode a socket is bound to, whatever names it has by then (SIOCUNIXFILE), and an inode is kept
// open so that its number is given to no other.

// mostSockets bounds the sockets that are remembered. Those without a name are forgotten first.
const mostSockets = 512

// mostConnects bounds the calls that wait for room in a server's queue at a time.
const mostConnects = 256

const (
	sysPidfdGetfd = 438
	pidfdThread   = syscall.O_EXCL // PIDFD_THREAD, since Linux 6.9
	ioctlUnixFile = 0x89e0         // SIOCUNIXFILE, since Linux 4.10
	maxAddress    = 128            // struct sockaddr_storage
	pathOffset    = 2              // of sun_path in struct sockaddr_un
	mostUnix      = 110            // struct sockaddr_un
)

// inode is the identity of a file. It is unique while the file is open.
type inode struct{ dev, ino uint64 }

// copied is a descriptor of the process that asked, as one of this process.
func (w *Witness) copied(n *notice, fd uint64) (int, syscall.Errno) {
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
	case errno == syscall.EPERM: // the process keeps others out (PR_SET_DUMPABLE)
		return -1, syscall.EACCES
	case errno != 0:
		return -1, errno
	case !w.stillAsks(n): // the process may be another one by now
		_ = syscall.Close(int(own))
		return -1, syscall.EACCES
	}
	return int(own), 0
}

// stillAsks reports that the process of a notice waits for its answer, so that its id was not given
// to another one.
func (w *Witness) stillAsks(n *notice) bool {
	id := n.id
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(w.fd), ioctlStillThere, uintptr(unsafe.Pointer(&id)))
	return errno == 0
}

// listens remembers the inode of a socket that is about to listen. What is not remembered is not
// reached. It returns true where it has performed the call.
func (w *Witness) listens(n *notice) (reply, bool) {
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

// remember keeps an open inode.
func (w *Witness) remember(fd int) {
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

// connect performs connect(2). It returns false where the answer follows when a server has room.
func (w *Witness) connect(n *notice) (reply, bool) {
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
		c.elsewhere = w.foreign(fd, address)
	}
	flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
	if flags&syscall.O_NONBLOCK != 0 && c.elsewhere == "" {
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

// connection is a connect(2) that is allowed.
type connection struct {
	asked      notice
	fd, target int // the socket, and what its address leads to; if -1, that is no path
	address    []byte
	elsewhere  string        // what another process is asked about; if empty, it is not asked
	refusal    syscall.Errno // of a socket with a path that is elsewhere, if it is not led to
}

// perform makes a connection, and closes what it needed.
func (w *Witness) perform(c connection) reply {
	defer func() { c.close() }()
	if c.elsewhere != "" {
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

// lead turns the address of a socket of this machine into one that leads to an inode that is open
// here, if the command may reach it.
//
// Abstract names belong to a network, so those of the command's own network are its own.
func (w *Witness) lead(c *connection) syscall.Errno {
	a := c.address
	if len(a) <= pathOffset || len(a) > mostUnix || uint16(a[0])|uint16(a[1])<<8 != syscall.AF_UNIX {
		return syscall.EINVAL
	}
	if a[pathOffset] == 0 {
		return 0
	}
	name, _, _ := strings.Cut(string(a[pathOffset:]), "\x00")
	target, errno := w.target(c, name)
	if errno == 0 && c.elsewhere == "" {
		c.leadTo(target)
	}
	return errno
}

// leadTo gives a connection an address that leads to an open inode.
func (c *connection) leadTo(target int) {
	c.target = target
	c.address = append(append(c.address[:pathOffset:pathOffset], "/proc/self/fd/"+strconv.Itoa(target)...), 0)
}

// target opens what a path leads to, which is a socket that the command made. If it is none, and
// there is somebody to ask, it is elsewhere.
func (w *Witness) target(c *connection, name string) (int, syscall.Errno) {
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

// notOwn is for a path that leads to no socket of the command.
func (w *Witness) notOwn(c *connection, path string, errno syscall.Errno) (int, syscall.Errno) {
	if w.asks > 0 && path != "" {
		c.elsewhere, c.refusal = "unix:"+path, errno
		return -1, 0
	}
	return -1, errno
}

func (w *Witness) ownSocket(id inode) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known := w.sockets[id]
	return known
}

// absolute is a path as this process can look it up. Both have the same root, because the filter
// lets nobody change it.
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
