package batch

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart has the child stand in a process group of its own.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// interrupt tells a child to end, as Ctrl-Break does. Where both have no console it is killed.
func interrupt(p *os.Process) error {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid)) == nil {
		return nil
	}
	return p.Kill()
}
