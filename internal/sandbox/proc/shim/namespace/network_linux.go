package namespace

import (
	"syscall"
	"unsafe"
)

// loopbackUp lets programs in a new network namespace reach each other (netdevice(7)). There is no
// other interface.
func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	request := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{name: [syscall.IFNAMSIZ]byte{'l', 'o'}, flags: syscall.IFF_UP}
	_, err = call(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
	return err
}

// openDoor binds a listener in this network and passes it to adze over a socket. It stays in this
// network wherever it is used (socket(7)), so adze serves the command without a port or a path
// outside. Nothing of it remains here.
func openDoor(socket int) error {
	defer syscall.Close(socket)
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: DoorPort, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := syscall.Listen(fd, syscall.SOMAXCONN); err != nil {
		return err
	}
	return syscall.Sendmsg(socket, []byte{0}, syscall.UnixRights(fd), nil, 0)
}
