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

// Each command has its own network, and reaches the ports served by another command of the session
// through that one's shim. A job's ports are also served on the user's localhost.

const mostServed = 32

// firstOpen is the lowest port that keeps its number on the user's localhost: lower ones are for
// system services.
const firstOpen = 1024

// servers finds the session's commands by served port. The zero value is empty.
type servers struct {
	mu     sync.Mutex
	byPort map[uint16]*locals
}

// of returns the command serving a port, or nil.
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

type servedPort struct {
	port      uint16
	outside   uint16         // on the user's localhost; 0 if not there
	listeners []net.Listener // on the user's localhost
}

// served handles the shim's messages about ports. It returns false for a request.
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
	if l.isJob {
		l.open(&l.ports[len(l.ports)-1])
	}
}

// last is called when the command has become a job.
func (l *locals) last() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.isJob {
		return
	}
	l.isJob = true
	for i := range l.ports {
		l.open(&l.ports[i])
	}
}

// open serves a port on the user's localhost, under another number if it is taken.
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
	_ = listen("tcp6", "::1", s.outside) // IPv6 may be missing
	for _, made := range s.listeners {
		l.work.Go(func() { l.accept(made, s.port) })
	}
}

// accept forwards connections from outside to a port in the command's network.
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

// serves lists the command's ports as the user reaches them.
func (l *locals) serves() (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.ports {
		text := fmt.Sprintf("localhost:%d", s.port)
		switch {
		case s.outside == 0 && l.isJob:
			text += " (for commands alone)"
		case s.outside != s.port && l.isJob:
			text += fmt.Sprintf(" (outside of the sandbox localhost:%d)", s.outside)
		}
		out = append(out, text)
	}
	return out
}
