//go:build amd64 || arm64

package seccomptrace

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// process is one that met something, known by a descriptor: ids are given again.
type process struct{ pid, fd int }

// maxProcesses bounds the descriptors that are held. All further processes count as one that did
// not end well.
const maxProcesses = 64

// processOf is the id of the process that a thread belongs to. It is 0 where it is gone.
func processOf(thread int) int {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(thread) + "/status")
	_, rest, _ := strings.Cut(string(status), "\nTgid:")
	line, _, _ := strings.Cut(rest, "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	return pid
}

// process is that of a thread.
func (w *Witness) process(thread int) *process {
	pid := processOf(thread)
	for _, p := range w.whom {
		if p.pid == pid && !p.gone() {
			return p
		}
	}
	p := &process{pid, -1}
	if pid != 0 && len(w.whom) < maxProcesses {
		if fd, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(pid), 0, 0); errno == 0 {
			p.fd = int(fd)
		}
		w.whom = append(w.whom, p)
	}
	return p
}

const (
	sysPidfdOpen = 434
	ioctlInfo    = 0xc040ff0b // PIDFD_GET_INFO with the first 64 bytes of struct pidfd_info (linux/pidfd.h)
	infoExit     = 1 << 3     // PIDFD_INFO_EXIT, since Linux 6.15
)

// info is struct pidfd_info, as far as it is of use.
type info struct {
	mask uint64
	_    [52]byte
	exit int32 // as of wait(2)
}

func (p *process) ask() (info, syscall.Errno) {
	i := info{mask: infoExit}
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(p.fd), ioctlInfo, uintptr(unsafe.Pointer(&i)))
	return i, errno
}

// gone reports that the process has ended and been waited for, as far as the kernel tells.
func (p *process) gone() bool {
	i, errno := p.ask()
	return errno == syscall.ESRCH || errno == 0 && i.mask&infoExit != 0
}

// endedWell reports exit code 0, as far as the kernel tells.
func (p *process) endedWell() bool {
	i, errno := p.ask()
	return errno == 0 && i.mask&infoExit != 0 && i.exit == 0
}

const (
	pageSize = 4096 // the least that there is; a longer page is read in parts
	maxPath  = 4096
)

// read copies memory of the thread that asked, up to the end of what it has there.
func (n *notice) read(at uint64, size int) []byte {
	buf := make([]byte, size)
	got := 0
	for got < size {
		part := min(size-got, int(pageSize-(at+uint64(got))%pageSize))
		local := syscall.Iovec{Base: &buf[got]}
		local.SetLen(part)
		remote := struct{ base, size uint64 }{at + uint64(got), uint64(part)}
		done, _, errno := syscall.Syscall6(sysProcessVMRead, uintptr(n.pid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
		if errno != 0 {
			break
		}
		if got += int(done); bytes.IndexByte(buf[got-int(done):got], 0) >= 0 && size == maxPath {
			break
		}
	}
	return buf[:got]
}

// text is a path in memory; false where there is none.
func (n *notice) text(at uint64) (string, bool) {
	if at == 0 {
		return "", false
	}
	s, _, whole := strings.Cut(string(n.read(at, maxPath)), "\x00")
	return s, whole && s != ""
}
