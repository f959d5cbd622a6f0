package sandbox

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// locals decides which ports and sockets of this machine one command reaches besides its own: those
// that the user has allowed (proc.Command.Local). The shim asks about each connection; see package
// seccomptrace.
type locals struct {
	plan *plan
	near *net.UnixConn
	ctx  context.Context
	work sync.WaitGroup

	dialling sync.Mutex    // held while the shim makes a connection inside; one at a time
	inward   *net.UnixConn // the shim makes connections over it; nil if the command serves no port

	mu      sync.Mutex
	over    bool                    // the command has ended
	isJob   bool                    // it is a job
	ports   []servedPort            // ports that the command serves in its network, in order
	answers map[string]func() error // why a place is refused, by place; the first call asks
}

const mostLocals = 256

// linkTime limits the wait for a connection from the shim, which makes it at once.
const linkTime = 10 * time.Second

// local lets a command ask for connections if someone can answer.
func (p *plan) local(w *proc.Confinement) error {
	if p.command.Local == nil || w.Box.Filter != namespace.OwnNet {
		return nil
	}
	near, far, err := socketPair(unix.SOCK_SEQPACKET, "questions")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &locals{plan: p, near: near, ctx: ctx, answers: map[string]func() error{}}
	w.OnJob, w.Serves = l.last, l.serves
	w.Box.Asks = proc.FirstFile + len(w.Files)
	w.Files = append(w.Files, far)
	l.work.Go(l.serve)
	done := w.Done
	w.Done = func() (found proc.Findings) {
		cancel()
		l.end()
		_ = l.near.Close()
		_ = far.Close()
		l.work.Wait()
		if done != nil {
			found = done()
		}
		for place, answer := range l.answers {
			if err := answer(); err != nil {
				b := proc.Denial{Kind: proc.BarredHost, Target: legible(place), Reason: err.Error()}
				if path, ok := strings.CutPrefix(b.Target, "unix:"); ok {
					b.Kind, b.Target = proc.BarredSocket, path
				}
				found.Deny(b)
			}
		}
		return found
	}
	return nil
}

// serve answers requests until the command has ended. Unreadable ones get no response.
func (l *locals) serve() {
	room := make(chan struct{}, mostLocals)
	text := make([]byte, 8<<10)
	for {
		n, files, whole, err := receive(l.near, text)
		if err != nil || n == 0 {
			return
		}
		about := string(text[:n])
		if l.served(about, files) {
			continue
		}
		if len(files) == 0 || !whole {
			closeAll(files)
			continue
		}
		select {
		case room <- struct{}{}:
		case <-l.ctx.Done():
			closeAll(files)
			return
		}
		l.work.Go(func() {
			defer func() { <-room }()
			defer closeAll(files)
			l.answer(about, files[0], files[1:])
		})
	}
}

func (l *locals) answer(about string, to *os.File, with []*os.File) {
	say := func(what byte, rights []byte) bool {
		return unix.Sendmsg(int(to.Fd()), []byte{what}, rights, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT) == nil
	}
	kind, place, _ := strings.Cut(about, ":")
	switch {
	case kind == "unix":
		socket, real := l.plan.socket(place)
		if socket == nil {
			say(seccomptrace.Unserved, nil)
			return
		}
		defer socket.Close()
		if !l.may("unix:" + real) {
			say(seccomptrace.Refuses, nil)
			return
		}
		say(seccomptrace.Leads, unix.UnixRights(int(socket.Fd())))
	case kind == "tcp" && len(with) == 1:
		at, err := netip.ParseAddrPort(place)
		at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
		if of := l.plan.servers.of(at.Port()); of != nil && of != l {
			conn, err := of.dial(at.Port())
			l.link(conn, err, with[0], say)
			return
		}
		if err != nil || !listens(at) {
			say(seccomptrace.Unserved, nil)
			return
		}
		if !l.may("tcp://localhost:" + strconv.Itoa(int(at.Port()))) {
			say(seccomptrace.Refuses, nil)
			return
		}
		conn, err := l.outside(at)
		l.link(conn, err, with[0], say)
	default:
		say(seccomptrace.Unserved, nil)
	}
}

// socket opens another program's socket inode and returns its path. It returns nil if there is
// none, and for sockets that no command may reach: adze's own and those that programs ask in
// passing.
func (p *plan) socket(path string) (*os.File, string) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, ""
	}
	f := os.NewFile(uintptr(fd), path)
	info, err := f.Stat()
	real, err2 := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if errors.Join(err, err2) != nil || info.Mode()&os.ModeSocket == 0 || !filepath.IsAbs(real) || inPassing(real) || !may("/proc/self/fd/"+strconv.Itoa(fd)) ||
		slices.ContainsFunc(slices.Concat(p.secrets, p.hidden, p.masked), func(s string) bool { return isWithin(real, s) }) {
		_ = f.Close()
		return nil, ""
	}
	return f, real
}

// may asks about a place, once per command.
func (l *locals) may(place string) bool {
	l.mu.Lock()
	answer := l.answers[place]
	if answer == nil {
		answer = sync.OnceValue(func() error { return l.plan.command.Local(l.ctx, place) })
		l.answers[place] = answer
	}
	l.mu.Unlock()
	return answer() == nil
}

func (l *locals) outside(at netip.AddrPort) (net.Conn, error) {
	if at.Addr().IsUnspecified() {
		loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
		if at.Addr().Is6() {
			loopback = netip.IPv6Loopback()
		}
		at = netip.AddrPortFrom(loopback, at.Port())
	}
	return (&net.Dialer{}).DialContext(l.ctx, "tcp", at.String())
}

// link reports the result of a connection to the shim, which then connects to the listener, and
// copies between both connections.
func (l *locals) link(outside net.Conn, err error, listener *os.File, say func(byte, []byte) bool) {
	if err != nil {
		say(seccomptrace.Unserved, nil)
		return
	}
	defer outside.Close()
	inside, err := net.FileListener(listener)
	if err != nil {
		say(seccomptrace.Unserved, nil)
		return
	}
	defer inside.Close()
	if !say(seccomptrace.Leads, nil) || inside.(*net.TCPListener).SetDeadline(time.Now().Add(linkTime)) != nil {
		return
	}
	conn, err := inside.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	carry(l.ctx, conn.(*net.TCPConn), outside.(*net.TCPConn))
}

// carry copies between two connections until both have ended or ctx ends.
func carry(ctx context.Context, a, b *net.TCPConn) {
	stop := context.AfterFunc(ctx, func() {
		_ = a.Close()
		_ = b.Close()
	})
	defer stop()
	var both sync.WaitGroup
	half := func(to, from *net.TCPConn) {
		if _, err := to.ReadFrom(from); err != nil { // one side is broken, so the other direction is too
			_ = to.SetLinger(0)
			_ = to.Close()
			_ = from.Close()
			return
		}
		_ = to.CloseWrite()
	}
	both.Go(func() { half(a, b) })
	both.Go(func() { half(b, a) })
	both.Wait()
}

// listens reports whether a program outside the sandbox listens on a port of this machine.
func listens(at netip.AddrPort) bool {
	tables := []string{"tcp6", "tcp"} // an IPv6 server may serve both
	if at.Addr().Is6() {
		tables = tables[:1]
	}
	want := ":" + strings.ToUpper(strconv.FormatUint(uint64(at.Port())|1<<16, 16))[1:]
	for _, name := range tables { // proc_net_tcp(5)
		data, _ := os.ReadFile("/proc/net/" + name)
		for line := range strings.Lines(string(data)) {
			f := strings.Fields(line)
			if len(f) > 3 && strings.HasSuffix(f[1], want) && f[3] == "0A" {
				return true
			}
		}
	}
	return false
}
