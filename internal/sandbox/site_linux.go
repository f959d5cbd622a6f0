package sandbox

import (
	"os"
	"path/filepath"
	"syscall"
)

// serveSockets serves a socket in the workspace, where no mount hides it, and reads from a FIFO
// outside.
func (s *site) serveSockets() error {
	socket, fifo := filepath.Join(s.work, "socket"), filepath.Join(s.home, "fifo")
	if err := s.listen(socket); err != nil {
		return err
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		return err
	}
	reader, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = reader.Close() })
	s.trialsOfSockets = []trial{{"unix", socket, true}, {"open", fifo, false}}
	return nil
}
