package proc

import (
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// waysOut returns attributes for a process that outlives the terminal, the best first: without a
// console, and outside this process's job. It returns an error if that job allows no breakaway and
// kills its processes on close. Windows does not show outer jobs: if one of them allows no
// breakaway, the process stays in all.
func waysOut() ([]*syscall.SysProcAttr, error) {
	const (
		alone = windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP
		leave = windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK | windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK
	)
	limits, err := ownLimits() // there may be no job
	if err == nil && limits&windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE != 0 && limits&leave == 0 {
		return nil, errJob
	}
	return []*syscall.SysProcAttr{{CreationFlags: alone | windows.CREATE_BREAKAWAY_FROM_JOB}, {CreationFlags: alone}}, nil
}

var errJob = errors.New("the program that shows this terminal ends all that it started, so that nothing outlives it; run adze in a terminal of its own")

// ownLimits returns the limits set by this process's job.
func ownLimits() (flags uint32, err error) {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	err = windows.QueryInformationJobObject(0, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return info.BasicLimitInformation.LimitFlags, err
}
