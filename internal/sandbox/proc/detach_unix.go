//go:build unix

package proc

import "syscall"

// waysOut returns the attributes for a process that outlives the terminal: a new session.
func waysOut() ([]*syscall.SysProcAttr, error) {
	return []*syscall.SysProcAttr{{Setsid: true}}, nil
}
