//go:build amd64 || arm64

package seccomptrace

import (
	"encoding/binary"
	"syscall"
	"unsafe"
)

// A datagram socket of this machine can send to any name, also one of a pair, and no filter sees
// the name. A pair of sequenced packets keeps messages apart in the same way and ignores names, so
// a command that wants a pair for datagrams gets that.

const (
	ioctlAddFD        = 0x40182103 // SECCOMP_IOCTL_NOTIF_ADDFD, since Linux 5.9
	sysProcessVMWrite = sysProcessVMRead + 1
)

// pair answers socketpair(2).
func (w *Witness) pair(n *notice) reply {
	kind := int(uint32(n.args[1]))
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC|kind&syscall.SOCK_NONBLOCK, int(uint32(n.args[2])))
	if err != nil {
		return reply{id: n.id, errno: -int32(errnoOf(err))}
	}
	var given []byte
	for _, fd := range fds {
		add := struct {
			id                        uint64
			flags, from, to, ofTarget uint32
		}{id: n.id, from: uint32(fd), ofTarget: uint32(kind & syscall.SOCK_CLOEXEC)}
		number, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(w.fd), ioctlAddFD, uintptr(unsafe.Pointer(&add)))
		if errno != 0 && err == nil {
			err = errno
		}
		given = binary.NativeEndian.AppendUint32(given, uint32(number))
		_ = syscall.Close(fd)
	}
	if err != nil {
		return reply{id: n.id, errno: -int32(errnoOf(err))}
	}
	if !n.write(n.args[3], given) {
		return reply{id: n.id, errno: -int32(syscall.EFAULT)}
	}
	return reply{id: n.id}
}

// write copies to memory of the process that asked.
func (n *notice) write(at uint64, data []byte) bool {
	local := syscall.Iovec{Base: &data[0]}
	local.SetLen(len(data))
	remote := struct{ base, size uint64 }{at, uint64(len(data))}
	done, _, errno := syscall.Syscall6(sysProcessVMWrite, uintptr(n.pid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	return errno == 0 && int(done) == len(data)
}
