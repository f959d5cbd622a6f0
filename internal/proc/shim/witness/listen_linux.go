//go:build amd64 || arm64

package witness

import (
	"slices"
	"sync"
	"syscall"
	"unsafe"
)

// Witness is the listener of one command.
type Witness struct {
	fd    int
	write []string
	calls map[uint32]call
	names map[uint32]string
	mu    sync.Mutex
	facts []*met
	whom  []*process
	ports map[uint16]bool // where something of this network was found to listen
}

// met is a fact, and the processes that met it.
type met struct {
	Fact
	by []*process
}

// notice is struct seccomp_notif (linux/seccomp.h).
type notice struct {
	id    uint64
	pid   uint32 // of the thread
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

	sameProcessor = 1 // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP: the answer is a hand-over, not a wake-up elsewhere
	goOn          = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE
)

// New is the witness at the listener that seccomp(2) gave. Somebody must attend to it.
func New(fd int, s Settings) *Witness {
	w := &Witness{fd: fd, write: s.Write, calls: map[uint32]call{}, names: Names(), ports: map[uint16]bool{}}
	for _, c := range watched() {
		w.calls[c.nr] = c
	}
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), ioctlSetFlags, sameProcessor) // older kernels are only slower
	return w
}

// Attend answers until there is something to read from another descriptor, or its end; -1: until nothing is left that the
// filter is on. It shares a thread with who waits for that descriptor: one more makes the least command slower.
func (w *Witness) Attend(other int) {
	if w == nil {
		return
	}
	n, r := new(notice), new(reply)
	for {
		wait := [2]pollFD{{fd: int32(other), events: pollIn}, {fd: int32(w.fd), events: pollIn}}
		_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&wait)), uintptr(len(wait)), 0, 0, 0, 0)
		switch {
		case errno == syscall.EINTR:
		case errno != 0 || wait[0].got != 0:
			return
		case wait[1].got&pollIn != 0:
			w.one(n, r)
		case wait[1].got != 0: // its end
			return
		}
	}
}

// pollFD is struct pollfd.
type pollFD struct {
	fd          int32
	events, got int16
}

const pollIn = 1

// one answers what the kernel asks now. Who asked may have been killed meanwhile.
func (w *Witness) one(n *notice, r *reply) {
	*n = notice{} // the kernel refuses to write over anything
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(w.fd), ioctlReceive, uintptr(unsafe.Pointer(n))); errno != 0 {
		return
	}
	*r = w.answer(n)
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, uintptr(w.fd), ioctlReply, uintptr(unsafe.Pointer(r)))
}

// answer lets go on what the filter only watches, and nothing else. By the number alone it decides which that is.
func (w *Witness) answer(n *notice) reply {
	c, ok := w.calls[n.nr]
	if !ok {
		w.refused(n)
		return reply{id: n.id, errno: -int32(syscall.EPERM)}
	}
	switch c.act {
	case connects:
		w.address(n, n.args[1], n.args[2])
	case sends:
		w.address(n, n.args[4], n.args[5])
	default:
		w.path(n, c)
	}
	return reply{id: n.id, flags: goOn}
}

// families that a filter lets no socket be made of.
func families() map[uint64]string {
	return map[uint64]string{syscall.AF_INET: "AF_INET", syscall.AF_INET6: "AF_INET6", syscall.AF_NETLINK: "AF_NETLINK", syscall.AF_PACKET: "AF_PACKET",
		syscall.AF_BLUETOOTH: "AF_BLUETOOTH", 40: "AF_VSOCK", 38: "AF_ALG", 29: "AF_CAN"}
}

func (w *Witness) refused(n *notice) {
	name := w.names[n.nr]
	switch n.nr {
	case syscall.SYS_CLONE:
		name = "clone with new namespaces"
	case syscall.SYS_SOCKET:
		if name = families()[n.args[0]]; name == "" {
			name = "of another family"
		}
		name = "socket " + name
	}
	if name != "" {
		w.note(n, Fact{Called, name})
	}
}

// note keeps a fact with who met it.
func (w *Witness) note(n *notice, f Fact) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.facts, func(m *met) bool { return m.Fact == f })
	switch {
	case i >= 0:
	case len(w.facts) < maxFacts:
		i, w.facts = len(w.facts), append(w.facts, &met{Fact: f})
	default:
		return
	}
	if who := w.process(int(n.pid)); !slices.Contains(w.facts[i].by, who) {
		w.facts[i].by = append(w.facts[i].by, who)
	}
}

// Facts are what counts when the processes have ended, in the order in which it was met.
func (w *Witness) Facts() []Fact {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Fact
	for _, m := range w.facts {
		if slices.ContainsFunc(m.by, func(p *process) bool { return !p.endedWell() }) {
			out = append(out, m.Fact)
		}
	}
	return out
}
