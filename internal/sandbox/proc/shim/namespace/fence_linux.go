package namespace

import (
	"syscall"
	"unsafe"
)

// A mount that is read only keeps nobody from writing to a FIFO on it. Landlock does: what is
// opened for writing must lie below a folder that the box lets the command write. It takes some
// microseconds for each command and nothing for each open, where a supervisor of opens would double
// what they take.

const (
	mayRefer = 1 << 13 // to move between folders, which every set of rules forbids that does not allow it
	referABI = 2
)

// fence restricts the calling thread to open for writing only what the mounts leave to write.
// Kernels without Landlock have no fence, and the self-test of the sandbox says so.
func fence(mounts []Mount) error {
	if ABI() < referABI {
		return nil
	}
	attr := struct{ files uint64 }{mayWrite | mayRefer}
	set, err := call(sysLandlockCreate, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if err != nil {
		return err
	}
	defer syscall.Close(set)
	for _, m := range mounts {
		switch m.Kind {
		case Writable, View, Handed, Private, Devices, Proc:
			if err := allow(set, m.Path, attr.files); err != nil {
				return &Fault{m.Path, err}
			}
		}
	}
	_, err = call(sysLandlockRestrict, uintptr(set), 0)
	return err
}
