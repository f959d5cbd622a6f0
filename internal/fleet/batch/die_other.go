//go:build unix && !linux

package batch

import "syscall"

// dieWithParent does nothing on this system. The child ends when nobody reads its output.
func dieWithParent(*syscall.SysProcAttr) {}
