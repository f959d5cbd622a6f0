//go:build unix

package proc

import "syscall"

// waysOut are the ways to start a process that outlives the terminal: in a session of its own.
func waysOut() ([]*syscall.SysProcAttr, error) {
	return []*syscall.SysProcAttr{{Setsid: true}}, nil
}
