package proc

import (
	"os"
	"syscall"
)

// keeps says that shims can wait for further commands here.
const keeps = true

// socketPair is a pipe that also carries descriptors. The second end is for this process.
func socketPair() (theirs, ours *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	_ = syscall.SetNonblock(fds[1], true) // so that it can be closed while somebody writes
	return os.NewFile(uintptr(fds[0]), "lifeline"), os.NewFile(uintptr(fds[1]), "lifeline"), nil
}

// sendFiles sends what fits at once, and files with its first bytes; if 0, nobody gets it.
func sendFiles(to *os.File, data []byte, files []*os.File) (sent int) {
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	raw, err := to.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Write(func(fd uintptr) bool {
		for err = syscall.EINTR; err == syscall.EINTR; {
			sent, err = syscall.SendmsgN(int(fd), data, syscall.UnixRights(fds...), nil, syscall.MSG_NOSIGNAL)
		}
		return err != syscall.EAGAIN
	})
	if err != nil {
		return 0
	}
	return sent
}
