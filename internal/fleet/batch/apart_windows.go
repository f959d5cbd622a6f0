package batch

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart starts the child in its own process group.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// interrupt asks a child to end, like Ctrl-Break. Without a shared console it kills the child.
func interrupt(p *os.Process) error {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid)) == nil {
		return nil
	}
	return p.Kill()
}
