package box

import (
	"syscall"
	"unsafe"
)

// loopbackUp lets programs of a new network namespace reach each other (netdevice(7)). There is no other interface.
//
// What lets some of the outside in belongs here: a listener that is bound now, and handed to adze by a socket pair as a
// descriptor, stays in this namespace wherever it is accepted from.
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
