package proc_test

import (
	"bytes"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// TestADetachedProcessLeavesTheJobOnWindows of a terminal that ends its programs; where that forbids
// to leave it, the user is told so, and nothing is started that would end with the terminal.
func TestADetachedProcessLeavesTheJobOnWindows(t *testing.T) {
	const kills, lets = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK
	for name, c := range map[string]struct {
		limits  uint32
		refused bool
	}{"it may leave": {kills | lets, false}, "it may not": {kills, true}, "nothing ends it": {0, false}} {
		t.Run(name, func(t *testing.T) {
			job, err := windows.CreateJobObject(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
			info.BasicLimitInformation.LimitFlags = c.limits
			if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
				t.Fatal(err)
			}
			var told windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
			err = windows.QueryInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&told)), uint32(unsafe.Sizeof(told)), nil)
			if c.refused && (err != nil || told.BasicLimitInformation.LimitFlags != c.limits) {
				t.Skip("this system does not tell the limits of a job, as Wine does not")
			}
			starter, log := detacher(t)
			var said bytes.Buffer
			starter.Stdout = &said
			in, err := starter.StdinPipe() // it starts nothing before it is in the job
			if err != nil {
				t.Fatal(err)
			}
			starter.Env = append(starter.Env, detachWaits+"=1")
			if err := starter.Start(); err != nil {
				t.Fatal(err)
			}
			h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(starter.Process.Pid))
			if err != nil {
				t.Fatal(err)
			}
			if err := windows.AssignProcessToJobObject(job, h); err != nil {
				t.Skip("no job in a job here:", err)
			}
			_ = windows.CloseHandle(h)
			_ = in.Close()
			failed := starter.Wait()
			_ = windows.CloseHandle(job) // as the terminal does that ends
			if c.refused {
				if failed == nil || !strings.Contains(said.String(), "terminal of its own") {
					t.Errorf("%v: %s", failed, said.String())
				}
				return
			}
			works(t, said.String(), log)
		})
	}
}
