package box

import (
	"syscall"
	"unsafe"

	"adze/internal/proc/shim/witness"
)

// The system call filter is one program of the classic packet filter (seccomp(2)). It closes what lets a command change
// its namespaces or mounts, look into other processes, use keys, or reach the kernel by ways that the other parts of the
// box cannot see: io_uring opens sockets without socket(2), bpf, perf and userfaultfd are ways in of many exploits.
//
// It does not decide by what lies behind pointers, which can change after it looked: clone3 is answered as if the kernel
// had none, and libraries then use clone.

// Instructions and answers (linux/filter.h, linux/seccomp.h).
const (
	load    = 0x20 // ld [k]
	ifEqual = 0x15 // jeq #k
	ifAbove = 0x35 // jge #k
	ifSet   = 0x45 // jset #k
	answer  = 0x06 // ret #k

	atNumber = 0
	atArch   = 4
	atArgs   = 16

	answerAllow = 0x7fff0000
	answerKill  = 0x80000000
	answerErrno = 0x00050000
	answerTell  = 0x7fc00000 // ask the listener (seccomp_unotify(2))

	newNamespaces = 0x7e020000 // the flags of clone(2) that make any
	x32           = 0x40000000

	tiocsti   = 0x5412
	tiocLinux = 0x541c

	seccompSetFilter = 1
	newListener      = 1 << 3
	waitKillable     = 1 << 5 // since Linux 5.19: signals do not make a call that is told of start again
)

type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

func refusal(errno syscall.Errno) instruction {
	return instruction{code: answer, k: answerErrno | uint32(errno)}
}

// program is the filter of this architecture, nil where its numbers are not known. With a witness, the kernel tells it of
// what means to write or connect, which then goes on, and of what is refused, which the witness refuses.
func (f Filter) program(told bool) []instruction {
	if arch == 0 {
		return nil
	}
	p := []instruction{
		{load, 0, 0, atArch}, {ifEqual, 1, 0, arch}, {answer, 0, 0, answerKill},
		{load, 0, 0, atNumber},
	}
	if hasX32 {
		p = append(p, instruction{ifAbove, 0, 1, x32}, refusal(syscall.ENOSYS))
	}
	refuse := func(uint32) instruction { return refusal(syscall.EPERM) }
	if told {
		p = append(p, watch(witness.Tests())...)
		names := witness.Names()
		refuse = func(nr uint32) instruction {
			if _, ok := names[nr]; !ok {
				return refusal(syscall.EPERM)
			}
			return instruction{code: answer, k: answerTell}
		}
	}
	p = append(p, instruction{ifEqual, 0, 1, sysClone3}, refusal(syscall.ENOSYS))
	for _, nr := range closed() {
		p = append(p, instruction{ifEqual, 0, 1, nr}, refuse(nr))
	}
	p = append(p,
		// Only the lower half of an argument counts for these calls, whatever the upper half says.
		instruction{ifEqual, 0, 4, syscall.SYS_CLONE}, instruction{load, 0, 0, atArgs},
		instruction{ifSet, 0, 1, newNamespaces}, refuse(syscall.SYS_CLONE), instruction{answer, 0, 0, answerAllow},
		instruction{ifEqual, 0, 5, syscall.SYS_IOCTL}, instruction{load, 0, 0, atArgs + 8},
		instruction{ifEqual, 1, 0, tiocsti}, instruction{ifEqual, 0, 1, tiocLinux}, refusal(syscall.EPERM), instruction{answer, 0, 0, answerAllow},
	)
	return append(p, f.sockets(refuse(syscall.SYS_SOCKET))...)
}

// watch has the kernel tell of the calls that pass a test, and allows the same calls where they do not.
func watch(tests []witness.Test) (p []instruction) {
	tell, allow := instruction{answer, 0, 0, answerTell}, instruction{answer, 0, 0, answerAllow}
	for _, t := range tests {
		low, high := uint32(atArgs+8*t.Argument), uint32(atArgs+8*t.Argument+4)
		switch {
		case t.Argument < 0:
			p = append(p, instruction{ifEqual, 0, 1, t.Number}, tell)
		case t.Any != 0:
			p = append(p, instruction{ifEqual, 0, 4, t.Number}, instruction{load, 0, 0, low}, instruction{ifSet, 0, 1, t.Any}, tell, allow)
		default: // a pointer that is there
			p = append(p, instruction{ifEqual, 0, 6, t.Number}, instruction{load, 0, 0, low}, instruction{ifEqual, 0, 2, 0},
				instruction{load, 0, 0, high}, instruction{ifEqual, 1, 0, 0}, tell, allow)
		}
	}
	return p
}

// sockets allows the families of a filter and nothing else.
func (f Filter) sockets(refuse instruction) []instruction {
	families := []uint32{syscall.AF_UNIX}
	if f == OwnNet {
		families = append(families, syscall.AF_INET, syscall.AF_INET6, syscall.AF_NETLINK)
	}
	p := []instruction{{ifEqual, 1, 0, syscall.SYS_SOCKET}, {answer, 0, 0, answerAllow}, {load, 0, 0, atArgs}}
	for _, family := range families {
		p = append(p, instruction{ifEqual, 0, 1, family}, instruction{answer, 0, 0, answerAllow})
	}
	return append(p, refuse)
}

// install puts the filter on the calling thread and all that it starts. With a witness it returns the descriptor that this
// one listens on; -1 where the kernel gives none, because it is old, or because another program listens already.
func (f Filter) install(told bool) (listener int, err error) {
	if told && len(witness.Tests()) > 0 {
		for _, flags := range []uintptr{newListener | waitKillable, newListener} {
			if fd, err := f.load(true, flags); err == nil {
				return fd, nil
			}
		}
	}
	_, err = f.load(false, 0)
	return -1, err
}

func (f Filter) load(told bool, flags uintptr) (int, error) {
	p := f.program(told)
	if p == nil {
		return -1, syscall.ENOSYS
	}
	prog := struct {
		n    uint16
		code *instruction
	}{uint16(len(p)), &p[0]}
	return call(sysSeccomp, seccompSetFilter, flags, uintptr(unsafe.Pointer(&prog)))
}

// closed are the calls that are always refused. Those from 424 on have one number everywhere.
func closed() []uint32 {
	return append([]uint32{
		425, 426, 427, // io_uring_setup, io_uring_enter, io_uring_register
		428, 429, 430, 431, 432, 433, 442, 467, // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, open_tree_attr
		438, // pidfd_getfd
		443, // quotactl_fd
		448, // process_mrelease
	}, closedHere...)
}
