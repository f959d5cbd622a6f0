package proc

import (
	"errors"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// startDetached starts a command without a console, and outside of the job that this process is in.
// It does not where that job lets nobody leave and ends its processes with its last handle. Of jobs
// around that one the system tells nothing: where one of them lets nobody leave, the command stays
// in all.
func startDetached(command func() *exec.Cmd) (*exec.Cmd, error) {
	const (
		alone = windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP
		leave = windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK | windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK
	)
	if limits, err := ownLimits(); err == nil && limits&windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE != 0 && limits&leave == 0 {
		return nil, errJob
	} // without a job there are no limits
	c, err := startWith(command, alone|windows.CREATE_BREAKAWAY_FROM_JOB)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		c, err = startWith(command, alone)
	}
	return c, err
}

var errJob = errors.New("the program that this terminal is of ends all that it started, so that nothing outlives it; run adze in a terminal of its own")

func startWith(command func() *exec.Cmd, flags uint32) (*exec.Cmd, error) {
	c := command()
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: flags, HideWindow: true}
	return c, c.Start()
}

// ownLimits are the limits of the job that this process is in.
func ownLimits() (flags uint32, err error) {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	err = windows.QueryInformationJobObject(0, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return info.BasicLimitInformation.LimitFlags, err
}
