//go:build amd64 || arm64

package seccomptrace

import (
	"sync"
	"syscall"
	"unsafe"
)

// A Witness is one command's listener.
type Listener struct {
	fd    int
	calls map[uint32]act
	mu    sync.Mutex
	begun sync.Once

	sockets map[inode]int // open descriptors of sockets served by the command
	asks    int           // see Settings; 0 means nobody
	dialled bool          // the outside process can connect to the command's servers
	waiting chan struct{} // one value for each waiting connection
}

// notice is struct seccomp_notif (linux/seccomp.h).
type notice struct {
	id    uint64
	pid   uint32 // the thread's
	flags uint32
	nr    uint32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// reply is struct seccomp_notif_resp.
type reply struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

const (
	ioctlReceive  = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
	ioctlReply    = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
	ioctlSetFlags = 0x40082104 // SECCOMP_IOCTL_NOTIF_SET_FLAGS, since Linux 6.6

	sameProcessor = 1 // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP: a hand-over on the same processor
	goOn          = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE
)

// New returns a Listener for seccomp(2)'s listener fd. The caller must serve it.
func New(fd int, s Settings) *Listener {
	w := &Listener{fd: fd, calls: calls(s.Moves),
		sockets: map[inode]int{}, asks: s.Asks, waiting: make(chan struct{}, mostConnects)}
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), ioctlSetFlags, sameProcessor) // older kernels are only slower
	return w
}

// Await waits until other is readable or closed, and begins to answer at the first reported call.
// It needs no thread until then, which would slow down the smallest command.
func (w *Listener) Await(other int) {
	if w == nil {
		return
	}
	for {
		wait := [2]pollFD{{fd: int32(other), events: pollIn}, {fd: int32(w.fd), events: pollIn}}
		_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&wait)), uintptr(len(wait)), 0, 0, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno == 0 && wait[1].got&pollIn != 0 {
			w.Begin()
		}
		return
	}
}

// Begin starts answering, once.
func (w *Listener) Begin() {
	if w != nil {
		w.begun.Do(func() { go w.listen() })
	}
}

// listen waits in the ioctl itself, to which the kernel hands the processor: after poll(2), a
// response takes many times as long on a busy machine.
func (w *Listener) listen() {
	n, r := new(notice), new(reply)
	for w.one(n, r) {
	}
	_ = syscall.Close(w.fd)
}

// pollFD is struct pollfd.
type pollFD struct {
	fd          int32
	events, got int16
}

const (
	pollIn  = 1
	pollHup = 16
)

// one handles the next call, whose process may have been killed meanwhile. It returns false after
// the last one.
func (w *Listener) one(n *notice, r *reply) bool {
	*n = notice{} // the kernel requires zeros
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(w.fd), ioctlReceive, uintptr(unsafe.Pointer(n)))
	if errno != 0 {
		return errno == syscall.EINTR || errno == syscall.ENOENT && !w.over()
	}
	var now bool
	if *r, now = w.answer(n); now {
		w.send(r)
	}
	return true
}

func (w *Listener) send(r *reply) {
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, uintptr(w.fd), ioctlReply, uintptr(unsafe.Pointer(r)))
}

// over reports whether no filtered process is left.
func (w *Listener) over() bool {
	wait := pollFD{fd: int32(w.fd), events: pollIn}
	var now syscall.Timespec
	_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&wait)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return errno == 0 && wait.got&pollHup != 0
}

// answer decides by the call number alone: the witness performs the call, lets it continue, or
// refuses it. It returns false if the response follows later.
func (w *Listener) answer(n *notice) (reply, bool) {
	switch w.calls[n.nr] {
	case connects:
		return w.connect(n)
	case listens:
		if r, done := w.listens(n); done {
			return r, true
		}
	case renames:
		if r, done := w.move(n); done {
			return r, true
		}
	default:
		return reply{id: n.id, errno: -int32(syscall.EPERM)}, true
	}
	return reply{id: n.id, flags: goOn}, true
}
