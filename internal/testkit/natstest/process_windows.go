package natstest

import (
	"errors"
	"os"
	"syscall"
)

// apart is nothing special.
func apart() *syscall.SysProcAttr { return nil }

func kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

func stop(int) error { return errors.ErrUnsupported }
func cont(int) error { return errors.ErrUnsupported }
