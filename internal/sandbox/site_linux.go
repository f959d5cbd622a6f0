package sandbox

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"adze/internal/sandbox/proc/shim/selftest"
)

// serveSockets serves by sockets whose names no list told when the command began, in the workspace,
// where no mount hides them, and reads from a FIFO outside.
func (s *site) serveSockets() error {
	at := func(name string) string { return filepath.Join(s.work, name) }
	try := func(name, upon string) { s.trialsOfSockets = append(s.trialsOfSockets, trial{name, upon, true}) }
	if err := s.listen(at("bound")); err != nil {
		return err
	}
	if err := errors.Join(os.Link(at("bound"), at("moved")), os.Remove(at("bound")), os.Link(s.unix, at("linked"))); err != nil {
		return err
	}
	try("unix", at("moved"))
	try("unix", at("linked"))
	try("unix", "moved")
	if err := s.serveApart("rel", nil); err != nil {
		return err
	}
	try("unix", at("rel"))
	// Where the system lets nobody have namespaces, nothing is there to be reached. It is started
	// as vfork(2) does, see ns_linux.go.
	if s.serveApart("other", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_VM | syscall.CLONE_VFORK}) == nil {
		try("unix", at("other"))
	}
	ready := filepath.Join(s.work, "ready")
	s.serveLater(ready, at("late"))
	try("later", ready+":"+at("late"))

	d, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at("grams"), Net: "unixgram"})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = d.Close() })
	try("datagram", at("grams"))
	try("pair", at("grams"))

	fifo := filepath.Join(s.home, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		return err
	}
	reader, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = reader.Close() })
	s.trialsOfSockets = append(s.trialsOfSockets, trial{"open", fifo, false})
	return nil
}

// serveApart has another process serve by a socket that it binds by its name alone.
func (s *site) serveApart(name string, sys *syscall.SysProcAttr) error {
	cmd := exec.Command(itself(), selftest.Word, selftest.Serve+"="+name)
	cmd.Dir, cmd.SysProcAttr, cmd.Env = s.work, sys, []string{}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil && line != selftest.Serve+"\n" {
		err = errors.New("no socket " + name + ": " + line)
	}
	return err
}

// serveLater makes a socket when there is a file, and then another file.
func (s *site) serveLater(ready, path string) {
	over := make(chan struct{})
	s.closers = append(s.closers, func() { close(over) })
	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for _, err := os.Lstat(ready); err != nil; _, err = os.Lstat(ready) {
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
		l, err := net.Listen("unix", path)
		_ = os.WriteFile(ready+selftest.Done, nil, 0o600) // without it the attempt gives up
		if err == nil {
			<-over
			_ = l.Close()
		}
	}()
}
