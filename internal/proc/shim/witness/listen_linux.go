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
	begun sync.Once
	ports map[uint16]bool // of this network that the command serves; 0: some that the kernel chose
}

// met is a fact, and the processes that met it.
type met struct {
	Fact
	by   []*process
	last uint32 // thread: a loop that is refused again and again says nothing more
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
	for _, port := range s.Served {
		w.ports[port] = true
	}
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), ioctlSetFlags, sameProcessor) // older kernels are only slower
	return w
}

// Await waits until there is something to read from a descriptor, or its end, and begins to answer with the first thing that
// the kernel asks. Until then it needs no thread of its own, which would make the least command slower.
func (w *Witness) Await(other int) {
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

// Begin answers from now on, if it has not begun.
func (w *Witness) Begin() {
	if w != nil {
		w.begun.Do(func() { go w.listen() })
	}
}

// listen waits in the very call that the kernel hands the processor to when it asks: with poll(2) before it, each answer
// takes many times as long on a busy machine.
func (w *Witness) listen() {
	n, r := new(notice), new(reply)
	for w.one(n, r) {
	}
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

// one answers what the kernel asks next; false: nothing will be asked any more. Who asked may have been killed meanwhile.
func (w *Witness) one(n *notice, r *reply) bool {
	*n = notice{} // the kernel refuses to write over anything
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(w.fd), ioctlReceive, uintptr(unsafe.Pointer(n)))
	if errno != 0 {
		return errno == syscall.EINTR || errno == syscall.ENOENT && !w.over()
	}
	*r = w.answer(n)
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, uintptr(w.fd), ioctlReply, uintptr(unsafe.Pointer(r)))
	return true
}

// over reports that nothing is left that the filter is on.
func (w *Witness) over() bool {
	wait := pollFD{fd: int32(w.fd), events: pollIn}
	var now syscall.Timespec
	_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&wait)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return errno == 0 && wait.got&pollHup != 0
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
	case binds:
		w.bound(n, n.args[1], n.args[2])
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
	case i >= 0 && w.facts[i].last == n.pid:
		return
	case i >= 0:
	case len(w.facts) < maxFacts:
		i, w.facts = len(w.facts), append(w.facts, &met{Fact: f})
	default:
		return
	}
	w.facts[i].last = n.pid
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
