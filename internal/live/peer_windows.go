package live

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// process holds the system's data of a process.
type process struct {
	handle   windows.Handle
	began    time.Time
	mine     bool // it runs as this process's user
	elevated bool // with administrator rights
}

// look opens a local process; done releases it.
func look(pid uint32) (*process, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, pid)
	if err != nil {
		return nil, os.NewSyscallError("OpenProcess", err)
	}
	p := &process{handle: h}
	if err := p.read(); err != nil {
		p.done()
		return nil, err
	}
	return p, nil
}

func (p *process) read() error {
	var began, ended, kernel, spent windows.Filetime
	if err := windows.GetProcessTimes(p.handle, &began, &ended, &kernel, &spent); err != nil {
		return os.NewSyscallError("GetProcessTimes", err)
	}
	p.began = time.Unix(0, began.Nanoseconds())
	var token windows.Token
	if err := windows.OpenProcessToken(p.handle, windows.TOKEN_QUERY, &token); err != nil {
		return os.NewSyscallError("OpenProcessToken", err)
	}
	defer token.Close()
	theirs, err := token.GetTokenUser()
	if err != nil {
		return os.NewSyscallError("GetTokenInformation", err)
	}
	mine, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return os.NewSyscallError("GetTokenInformation", err)
	}
	p.mine, p.elevated = theirs.User.Sid.Equals(mine.User.Sid), token.IsElevated()
	return nil
}

func (p *process) alive() bool {
	state, err := windows.WaitForSingleObject(p.handle, 0)
	return err == nil && state == uint32(windows.WAIT_TIMEOUT)
}

func (p *process) done() { _ = windows.CloseHandle(p.handle) }

// peerOf gets the peer from the system. Windows users have no numbers: UID is os.Getuid's result.
func peerOf(c connection) (p Peer, alive func() bool, done func(), err error) {
	var pid uint32
	pipe, ok := c.(*pipe)
	if !ok {
		return p, nil, nil, ErrUnavailable
	}
	if err := pipe.handle(func(h windows.Handle) error { return windows.GetNamedPipeClientProcessId(h, &pid) }); err != nil {
		return p, nil, nil, os.NewSyscallError("GetNamedPipeClientProcessId", err)
	}
	who, err := look(pid)
	if err != nil {
		return p, nil, nil, err
	}
	switch {
	case !who.mine:
		err = errOther
	case who.began.After(pipe.since):
		err = fmt.Errorf("process %d began after it connected", pid)
	case !who.elevated && windows.GetCurrentProcessToken().IsElevated():
		err = fmt.Errorf("the session has the rights of an administrator, and process %d has not", pid)
	}
	if err != nil {
		who.done()
		return p, nil, nil, err
	}
	return Peer{PID: int(pid), UID: os.Getuid()}, who.alive, who.done, nil
}

// loginOf returns a process's Windows session: each desktop and remote desktop has one, and the
// services, including SSH users, share one.
func loginOf(pid int) string {
	var id uint32
	if err := windows.ProcessIdToSessionId(uint32(pid), &id); err != nil {
		return ""
	}
	return fmt.Sprintf("session %d", id)
}
