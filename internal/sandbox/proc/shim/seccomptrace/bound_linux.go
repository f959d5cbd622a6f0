//go:build amd64 || arm64

package seccomptrace

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Without rights over the network (SIOCUNIXFILE wants CAP_NET_ADMIN) the kernel says of a socket on
// which file system it is bound and the lower half of the inode's number (sock_diag(7)). The path
// is opened and must be that inode.

const (
	netlinkDiag      = 4  // NETLINK_SOCK_DIAG
	diagByFamily     = 20 // SOCK_DIAG_BY_FAMILY
	diagInode        = 2  // UDIAG_SHOW_VFS
	diagInodeField   = 1  // UNIX_DIAG_VFS
	sizeOfHeader     = 16 // struct nlmsghdr
	sizeOfUnixDiag   = 16 // struct unix_diag_msg
	sizeOfAttribute  = 4  // struct nlattr
	kernelMinorBits  = 20
	anyCookie        = ^uint32(0)
	largestInodeSeen = 1<<32 - 1
)

// boundTo opens the inode that a socket is bound to, by its name; if -1, that has no such inode any
// more, or it cannot be known.
func boundTo(n *notice, fd int) int {
	address, err := syscall.Getsockname(fd)
	if err != nil {
		return -1
	}
	local, ok := address.(*syscall.SockaddrUnix)
	if !ok || local.Name == "" || local.Name[0] == '@' {
		return -1
	}
	want, ok := diagnosed(fd)
	if !ok {
		return -1
	}
	at, err := syscall.Open(n.absolute(local.Name), oPath|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	var st syscall.Stat_t
	// The upper half of a number is not told, so it must be nothing.
	if syscall.Fstat(at, &st) == nil && st.Ino <= largestInodeSeen && st.Ino == want.ino && fileSystem(at) == want.dev {
		return at
	}
	_ = syscall.Close(at)
	return -1
}

// diagnosed asks the kernel for the inode that a socket is bound to.
func diagnosed(fd int) (inode, bool) {
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil {
		return inode{}, false
	}
	diag, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, netlinkDiag)
	if err != nil {
		return inode{}, false
	}
	defer syscall.Close(diag)
	order := binary.NativeEndian
	ask := order.AppendUint32(nil, sizeOfHeader+24) // struct nlmsghdr, struct unix_diag_req
	ask = order.AppendUint16(ask, diagByFamily)
	ask = order.AppendUint16(ask, syscall.NLM_F_REQUEST)
	ask = append(ask, make([]byte, 8)...)
	ask = append(ask, syscall.AF_UNIX, 0, 0, 0)
	for _, v := range []uint32{0, uint32(st.Ino), diagInode, anyCookie, anyCookie} {
		ask = order.AppendUint32(ask, v)
	}
	if err := syscall.Sendto(diag, ask, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return inode{}, false
	}
	answer := make([]byte, 4096)
	size, _, err := syscall.Recvfrom(diag, answer, 0)
	if err != nil || size < sizeOfHeader+sizeOfUnixDiag || order.Uint16(answer[4:]) != diagByFamily {
		return inode{}, false
	}
	for rest := answer[sizeOfHeader+sizeOfUnixDiag : size]; len(rest) >= sizeOfAttribute; {
		length := int(order.Uint16(rest))
		if length < sizeOfAttribute || length > len(rest) {
			break
		}
		if order.Uint16(rest[2:]) == diagInodeField && length >= sizeOfAttribute+8 {
			return inode{uint64(order.Uint32(rest[8:])), uint64(order.Uint32(rest[4:]))}, true
		}
		rest = rest[min((length+3)&^3, len(rest)):]
	}
	return inode{}, false
}

// fileSystem is the device number of an open file's file system as the kernel has it. stat(2) tells
// another one where a file system has several trees.
func fileSystem(fd int) uint64 {
	mount := mountOf(fd)
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != strconv.FormatUint(mount, 10) {
			continue
		}
		major, minor, _ := strings.Cut(f[2], ":")
		a, err := strconv.ParseUint(major, 10, 32)
		b, err2 := strconv.ParseUint(minor, 10, kernelMinorBits)
		if err == nil && err2 == nil && mount != 0 {
			return a<<kernelMinorBits | b
		}
	}
	return 0
}
