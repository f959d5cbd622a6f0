package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A Ledger is a folder with one small file for every command's job, with the job's name. Another
// adze uses it to find the processes of calls. The system ends the job with its adze. Methods of a
// nil Ledger do nothing.
type Ledger struct{ dir string }

// NewLedger stores records in dir, which is created with the first one.
func NewLedger(dir string) *Ledger { return &Ledger{dir} }

const (
	jobPrefix = `Global\adze-` // visible in all sessions
	recordEnd = ".job"
)

// record writes a job's record and returns a function to remove it. Errors are ignored.
func (l *Ledger) record(job string) (remove func()) {
	if l == nil {
		return nil
	}
	path := filepath.Join(l.dir, strings.TrimPrefix(job, jobPrefix)+recordEnd)
	err := os.WriteFile(path, nil, 0o600)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(l.dir, 0o700) == nil {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err != nil {
		return nil
	}
	return func() { _ = os.Remove(path) } // else Reap does
}

// each calls do with each recorded job's name, and removes the record if do returns true.
func (l *Ledger) each(do func(job string) (over bool)) error {
	if l == nil {
		return nil
	}
	all, err := os.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range all {
		if tag, ok := strings.CutSuffix(e.Name(), recordEnd); ok && do(jobPrefix+tag) {
			_ = os.Remove(filepath.Join(l.dir, e.Name())) // else the next one does
		}
	}
	return err
}

// Reaped is the result of Reap.
type Reaped struct {
	Calls     []string
	Ended     int
	Survivors int
}

// Reap removes the records of dead adze processes. The system has already ended their jobs.
func (l *Ledger) Reap() (Reaped, error) {
	return Reaped{}, l.each(func(job string) bool {
		h, err := openJob(job)
		if err == nil {
			_ = windows.CloseHandle(h)
		}
		return errors.Is(err, fs.ErrNotExist)
	})
}

// endLost does nothing: the system ends a job with its last handle.
func endLost(string) (ended, left int) { return 0, 0 }

// holder returns the recorded job of a process, or "".
func (l *Ledger) holder(process windows.Handle) (job string, err error) {
	err = l.each(func(name string) bool {
		h, err := openJob(name)
		if err != nil {
			return false
		}
		defer windows.CloseHandle(h)
		if inJob(process, h) {
			job = name
		}
		return false
	})
	return job, err
}

// lookAlone returns attributes that let this user and the system only query an object. The
// creator's handle has all rights.
func lookAlone() (*windows.SecurityAttributes, error) {
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	// The entry for the owner (S-1-3-4) keeps the user from changing this list.
	sid := me.User.Sid.String()
	descriptor, err := windows.SecurityDescriptorFromString("O:" + sid + "D:P(A;;0x100004;;;S-1-3-4)(A;;0x100004;;;" + sid + ")(A;;0x100004;;;SY)")
	if err != nil {
		return nil, err
	}
	a := &windows.SecurityAttributes{SecurityDescriptor: descriptor}
	a.Length = uint32(unsafe.Sizeof(*a))
	return a, nil
}

const jobObjectQuery = 4

var jobCalls = sync.OnceValue(func() (calls struct{ open, holds *windows.LazyProc }) {
	kernel := windows.NewLazySystemDLL("kernel32.dll")
	calls.open, calls.holds = kernel.NewProc("OpenJobObjectW"), kernel.NewProc("IsProcessInJob")
	return calls
})

func openJob(name string) (windows.Handle, error) {
	at, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0, err
	}
	h, _, err := jobCalls().open.Call(jobObjectQuery, 0, uintptr(unsafe.Pointer(at)))
	if h == 0 {
		return 0, os.NewSyscallError("OpenJobObject", err)
	}
	return windows.Handle(h), nil
}

// inJob reports whether a process is in a job; also true on errors.
func inJob(process, job windows.Handle) bool {
	var in int32
	ok, _, _ := jobCalls().holds.Call(uintptr(process), uintptr(job), uintptr(unsafe.Pointer(&in)))
	return ok == 0 || in != 0
}
