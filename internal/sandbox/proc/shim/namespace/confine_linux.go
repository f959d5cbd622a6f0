package namespace

import (
	"syscall"
	"unsafe"

	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// Confine removes from the calling thread and its children all rights forbidden to the command. The
// thread must be locked and is useful only for starting the command. Other threads keep their
// rights, so they can end the command, and it cannot reach them. The caller must serve the witness,
// if not nil, as soon as the command runs.
func (b Box) Confine() (*seccomptrace.Listener, error) {
	if b.Empty() {
		return nil, nil
	}
	if err := dropRights(len(b.Mounts) > 0); err != nil {
		return nil, &Fault{"give up rights", err}
	}
	if _, err := call(syscall.SYS_PRCTL, prSetNoNewPrivs, 1); err != nil {
		return nil, &Fault{"give up new rights", err}
	}
	if len(b.Mounts) > 0 {
		if err := fence(b.Mounts); err != nil {
			return nil, &Fault{"restrict writing", err}
		}
	}
	if !b.Rules.none() {
		if err := b.Rules.enforce(); err != nil {
			return nil, &Fault{"restrict files", err}
		}
	}
	if b.Filter == NoFilter {
		return nil, nil
	}
	listener, err := b.install()
	switch {
	case err != nil:
		return nil, &Fault{"restrict system calls", err}
	case listener < 0:
		return nil, nil
	}
	return seccomptrace.New(listener, seccomptrace.Settings{Moves: b.Views(), Asks: b.Asks}), nil
}

const (
	prSetNoNewPrivs = 38
	prCapbsetDrop   = 24
	capVersion3     = 0x20080522
	lastCap         = 63 // the kernel reports its own last one
)

// Rights that root keeps over reachable files: a workspace in a container often belongs to another
// user. Read-only mounts stay read only (capabilities(7)).
const (
	capChown       = 0
	capDacOverride = 1
	capFowner      = 3
	capFsetid      = 4

	overFiles = 1<<capChown | 1<<capDacOverride | 1<<capFowner | 1<<capFsetid
)

// dropRights drops all capabilities, except those over files for root if mounts limit its reach.
func dropRights(mounts bool) error {
	keep := uint32(0)
	if mounts && syscall.Geteuid() == 0 {
		keep = overFiles
	}
	header := struct {
		version uint32
		pid     int32
	}{version: capVersion3}
	var sets [2]struct{ effective, permitted, inheritable uint32 }
	if _, err := call(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets))); err != nil {
		return err
	}
	for c := range uintptr(lastCap + 1) {
		if c < 32 && keep&(1<<c) != 0 {
			continue
		}
		_, err := call(syscall.SYS_PRCTL, prCapbsetDrop, c)
		if err == syscall.EINVAL {
			break
		}
		// Without the right to drop it there is none to pass on: no_new_privs ensures that.
		if err != nil && err != syscall.EPERM {
			return err
		}
	}
	keep &= sets[0].permitted
	sets[0].effective, sets[0].permitted, sets[0].inheritable = keep, keep, 0
	sets[1].effective, sets[1].permitted, sets[1].inheritable = 0, 0, 0
	_, err := call(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets)))
	return err
}
