package proc

import (
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"adze/internal/sandbox/proc/shim"
)

// jobObject holds one command's processes. It ends them when its handle is closed, as the kernel
// does when this process ends.
type jobObject struct {
	forget func() // removes its record; may be nil

	mu     sync.Mutex
	handle windows.Handle // 0 when closed
	ended  bool           // by adze
	killed int            // processes besides the command that were ended
	root   uint32         // the command
}

// newJob makes a job whose name lets others query its processes and nothing else.
func newJob(name string) (*jobObject, error) {
	at, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	access, err := lookAlone()
	if err != nil {
		return nil, err
	}
	handle, err := windows.CreateJobObject(access, at)
	if err != nil {
		return nil, err
	}
	j := &jobObject{handle: handle}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	if _, err := windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

func (j *jobObject) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle == 0 {
		return
	}
	j.ended = true
	for _, pid := range j.members() {
		if pid != j.root {
			j.killed++
		}
	}
	_ = windows.TerminateJobObject(j.handle, killedCode)
}

const killedCode = 1

// close closes the job, which ends its remaining processes.
func (j *jobObject) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle != 0 {
		_ = windows.CloseHandle(j.handle)
		j.handle = 0
		if j.forget != nil {
			j.forget()
		}
	}
}

// left lists running processes except consoles, which end with their programs.
func (j *jobObject) left() []uint32 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle == 0 {
		return nil
	}
	return j.members()
}

const maxMembers = 4096

// members lists the job's processes without consoles.
func (j *jobObject) members() []uint32 {
	var list struct {
		Assigned, Listed uint32
		IDs              [maxMembers]uintptr
	}
	err := windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && err != windows.ERROR_MORE_DATA {
		return nil
	}
	var out []uint32
	for _, id := range list.IDs[:min(list.Listed, maxMembers)] {
		if pid := uint32(id); !isConsole(pid) {
			out = append(out, pid)
		}
	}
	return out
}

// isConsole reports whether the process hosts a console for others.
func isConsole(pid uint32) bool {
	return strings.EqualFold(filepath.Base(imagePath(pid)), "conhost.exe")
}

// imagePath returns a process's program, or "" if unknown.
func imagePath(pid uint32) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(h)
	buf := make([]uint16, windows.MAX_LONG_PATH)
	size := uint32(len(buf))
	if windows.QueryFullProcessImageName(h, 0, &buf[0], &size) != nil {
		return ""
	}
	return windows.UTF16ToString(buf[:size])
}

const (
	lookEvery  = 250 * time.Millisecond // longest wait between two looks at a job
	sweepLimit = 2 * time.Second        // later the rest counts as survivors
)

// supervise reports the events of the command and its remaining processes, and ends those unless
// they may linger.
func (l *link) supervise(c *child, linger bool) {
	defer close(l.events)
	j := l.job
	_, _ = windows.WaitForSingleObject(c.process, windows.INFINITE)
	exit := shim.Event{Kind: shim.Exited, Code: -1, Sig: syscall.SIGKILL}
	var code uint32
	j.mu.Lock()
	ended := j.ended
	j.mu.Unlock()
	if windows.GetExitCodeProcess(c.process, &code) == nil && !(ended && code == killedCode) {
		exit.Code, exit.Sig = int(code), 0
	}
	l.events <- exit
	if !linger {
		if rest := j.left(); len(rest) > 0 {
			j.end()
		}
	}
	survivors := j.awaitEmpty(linger)
	c.close()
	j.mu.Lock()
	killed := j.killed
	j.mu.Unlock()
	l.events <- shim.Event{Kind: shim.Gone, Ended: killed, Survivors: survivors}
}

// awaitEmpty waits until the job is empty, without a limit if linger is set; else it returns the
// number of processes left after sweepLimit.
func (j *jobObject) awaitEmpty(linger bool) (survivors int) {
	wait := time.Millisecond
	var end time.Time
	for {
		rest := j.left()
		if len(rest) == 0 {
			return 0
		}
		j.mu.Lock()
		ended := j.ended
		j.mu.Unlock()
		if ended && end.IsZero() {
			end, wait = time.Now().Add(sweepLimit), time.Millisecond
		}
		if ended && time.Now().After(end) {
			return len(rest)
		}
		time.Sleep(wait)
		wait = min(2*wait, lookEvery)
	}
}
