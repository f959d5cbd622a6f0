package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Each command has a network of its own, and reaches the ports that another command of the session
// serves through that one's shim. Those of a job are served on the user's localhost, too.

// mostServed bounds the ports of one command that are known.
const mostServed = 32

// firstOpen is the least port of a job that the user finds under the same number: those below are
// for services of the system.
const firstOpen = 1024

// servers are the commands of a session by the ports that they serve. The zero value is none.
type servers struct {
	mu     sync.Mutex
	byPort map[uint16]*locals
}

// of is the command that serves a port; if nil, none does.
func (s *servers) of(port uint16) *locals {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byPort[port]
}

func (s *servers) add(port uint16, l *locals) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byPort == nil {
		s.byPort = map[uint16]*locals{}
	}
	s.byPort[port] = l
}

func (s *servers) remove(l *locals) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for port, of := range s.byPort {
		if of == l {
			delete(s.byPort, port)
		}
	}
}

// servedPort is a port of a command's network.
type servedPort struct {
	port      uint16
	outside   uint16         // on the user's localhost; if 0, it is not there
	listeners []net.Listener // likewise
}

// served takes what the shim tells of ports. It returns false for a question.
func (l *locals) served(about string, files []*os.File) bool {
	kind, rest, _ := strings.Cut(about, ":")
	switch kind {
	case "dial":
		defer closeAll(files)
		if len(files) != 1 {
			return true
		}
		if conn, err := net.FileConn(files[0]); err == nil {
			l.dialling.Lock()
			defer l.dialling.Unlock()
			if l.inward == nil && l.ctx.Err() == nil {
				l.inward = conn.(*net.UnixConn)
				context.AfterFunc(l.ctx, func() { _ = conn.Close() })
				return true
			}
			_ = conn.Close()
		}
		return true
	case "listen":
		closeAll(files)
		if port, err := strconv.ParseUint(rest, 10, 16); err == nil {
			l.listens(uint16(port))
		}
		return true
	}
	return false
}

func (l *locals) listens(port uint16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || len(l.ports) >= mostServed || slices.ContainsFunc(l.ports, func(s servedPort) bool { return s.port == port }) {
		return
	}
	l.plan.servers.add(port, l)
	l.ports = append(l.ports, servedPort{port: port})
	if l.lasts {
		l.open(&l.ports[len(l.ports)-1])
	}
}

// last is called when the command has become a job.
func (l *locals) last() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.lasts {
		return
	}
	l.lasts = true
	for i := range l.ports {
		l.open(&l.ports[i])
	}
}

// open serves a port on the user's localhost, under another number where that is taken.
func (l *locals) open(s *servedPort) {
	listen := func(network, host string, port uint16) bool {
		made, err := net.Listen(network, net.JoinHostPort(host, strconv.Itoa(int(port))))
		if err == nil {
			s.listeners = append(s.listeners, made)
		}
		return err == nil
	}
	if s.port < firstOpen || listens(netip.AddrPortFrom(netip.IPv4Unspecified(), s.port)) || !listen("tcp4", "127.0.0.1", s.port) {
		if !listen("tcp4", "127.0.0.1", 0) {
			return
		}
	}
	s.outside = uint16(s.listeners[0].Addr().(*net.TCPAddr).Port)
	_ = listen("tcp6", "::1", s.outside) // there may be no IPv6
	for _, made := range s.listeners {
		l.work.Go(func() { l.accept(made, s.port) })
	}
}

// accept leads connections from outside to a port of the command's network.
func (l *locals) accept(from net.Listener, port uint16) {
	room := make(chan struct{}, mostLocals)
	for {
		select {
		case room <- struct{}{}:
		case <-l.ctx.Done():
			return
		}
		conn, err := from.Accept()
		if err != nil {
			return
		}
		l.work.Go(func() {
			defer func() { <-room }()
			defer conn.Close()
			inside, err := l.dial(port)
			if err != nil {
				return
			}
			defer inside.Close()
			carry(l.ctx, inside.(*net.TCPConn), conn.(*net.TCPConn))
		})
	}
}

// dial connects to a port of the command's network.
func (l *locals) dial(port uint16) (net.Conn, error) {
	l.dialling.Lock()
	defer l.dialling.Unlock()
	if l.inward == nil {
		return nil, errors.New("the command serves no port")
	}
	if _, err := l.inward.Write([]byte{byte(port >> 8), byte(port)}); err != nil {
		return nil, err
	}
	_, files, _, err := receive(l.inward, make([]byte, 2))
	if err != nil {
		return nil, err
	}
	defer closeAll(files)
	if len(files) != 1 {
		return nil, fmt.Errorf("nothing serves port %d", port)
	}
	return net.FileConn(files[0])
}

// end closes what is served.
func (l *locals) end() {
	l.plan.servers.remove(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for _, s := range l.ports {
		for _, made := range s.listeners {
			_ = made.Close()
		}
	}
}

// serves are the ports that the command serves, as the user finds them.
func (l *locals) serves() (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.ports {
		text := fmt.Sprintf("localhost:%d", s.port)
		switch {
		case s.outside == 0 && l.lasts:
			text += " (for commands alone)"
		case s.outside != s.port && l.lasts:
			text += fmt.Sprintf(" (outside of the sandbox localhost:%d)", s.outside)
		}
		out = append(out, text)
	}
	return out
}
