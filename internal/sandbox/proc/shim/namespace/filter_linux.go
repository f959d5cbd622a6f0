package namespace

import (
	"cmp"
	"slices"
	"syscall"
	"unsafe"

	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// The system call filter is one classic packet filter program (seccomp(2)). It refuses calls that
// change namespaces or mounts, access other processes, use keys, or bypass the rest of the box:
// io_uring opens sockets without socket(2); bpf, perf and userfaultfd are used by many exploits.
//
// It never depends on data behind pointers, which can change after the check: clone3 and openat2
// fail as on an old kernel, and libraries then use clone and openat.

// Instructions and results (linux/filter.h, linux/seccomp.h).
const (
	load    = 0x20 // ld [k]
	ifEqual = 0x15 // jeq #k
	ifAbove = 0x35 // jge #k
	ifSet   = 0x45 // jset #k
	jump    = 0x05 // ja #k
	andWith = 0x54 // and #k
	answer  = 0x06 // ret #k

	atNumber = 0
	atArch   = 4
	atArgs   = 16

	answerAllow = 0x7fff0000
	answerKill  = 0x80000000
	answerErrno = 0x00050000
	answerTell  = 0x7fc00000 // ask the listener (seccomp_unotify(2))

	newNamespaces = 0x7e020000 // clone(2)'s flags for new namespaces
	x32Table      = 0x40000000

	tiocsti   = 0x5412
	tiocLinux = 0x541c

	seccompSetFilter = 1
	newListener      = 1 << 3
	waitKillable     = 1 << 5 // since Linux 5.19: signals do not restart a reported call
)

type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

func refusal(errno syscall.Errno) instruction {
	return instruction{code: answer, k: answerErrno | uint32(errno)}
}

// rule holds one call's instructions; each path ends in a result.
type rule struct {
	number uint32
	does   []instruction
}

// filterParams are a filter's parameters besides the architecture. Without a witness the command
// cannot connect local sockets, so it gets none.
type filterParams struct {
	witness bool
	tells   []uint32 // calls reported to the witness
	bits    uint32   // permission bits forbidden for files
}

// Permission bits that run a program as its owner or group for every caller. Mounts keep the
// command from using them, but not users outside later.
const (
	setUser  = 0o4000
	setGroup = 0o2000
)

// forbidden returns the forbidden bits. A user other than root has only one group to give, and
// needs the other bit for folders.
func forbidden() uint32 {
	if syscall.Geteuid() == 0 {
		return setUser | setGroup
	}
	return setUser
}

// program returns an architecture's filter, or nil if its numbers are unknown. It uses a binary
// search: the kernel runs the program once for every call number on installation, and later for
// each call with more than one result.
func (f Filter) program(n numbers, t filterParams) []instruction {
	if n.arch == 0 {
		return nil
	}
	p := []instruction{
		{load, 0, 0, atArch}, {ifEqual, 1, 0, n.arch}, {answer, 0, 0, answerKill},
		{load, 0, 0, atNumber},
	}
	if n.x32 {
		p = append(p, instruction{ifAbove, 0, 1, x32Table}, refusal(syscall.ENOSYS))
	}
	rules := f.rules(n, t)
	sortRules(rules)
	// The first rule for a call wins.
	rules = slices.CompactFunc(rules, func(a, b rule) bool { return a.number == b.number })
	return append(p, search(rules)...)
}

func sortRules(rules []rule) {
	slices.SortStableFunc(rules, func(a, b rule) int { return cmp.Compare(a.number, b.number) })
}

// rules returns the rules for all calls not simply allowed.
func (f Filter) rules(n numbers, t filterParams) []rule {
	refuse := refusal(syscall.EPERM)
	var out []rule
	if f == NoSockets {
		for _, nr := range append(attributesEverywhere(), n.attributes...) {
			out = append(out, rule{nr, []instruction{refuse}})
		}
	}
	allow := instruction{answer, 0, 0, answerAllow}
	tell := instruction{code: answer, k: answerTell}
	for _, nr := range t.tells {
		out = append(out, rule{nr, []instruction{tell}})
	}
	for _, m := range append(modesEverywhere(), n.modes...) {
		out = append(out, rule{m.number, append(m.without(t.bits), allow)})
	}
	out = append(out, rule{sysClone3, []instruction{refusal(syscall.ENOSYS)}}, rule{sysOpenat2, []instruction{refusal(syscall.ENOSYS)}})
	for _, nr := range append(closedEverywhere(), n.closed...) {
		out = append(out, rule{nr, []instruction{refuse}})
	}
	var families []uint32
	if f == OwnNet {
		families = append(families, syscall.AF_INET, syscall.AF_INET6, syscall.AF_NETLINK)
	}
	local := connected(refusal(syscall.ESOCKTNOSUPPORT))
	if !t.witness {
		local = []instruction{refuse}
	}
	return append(out,
		// Only the lower half of these calls' arguments counts.
		rule{n.clone, []instruction{{load, 0, 0, atArgs}, {ifSet, 0, 1, newNamespaces}, refuse, allow}},
		rule{n.ioctl, []instruction{{load, 0, 0, atArgs + 8}, {ifEqual, 1, 0, tiocsti}, {ifEqual, 0, 1, tiocLinux}, refusal(syscall.EPERM), allow}},
		rule{n.socket, sockets(local, families, refuse)},
		// Other families make the kernel load their modules, even without making a pair.
		rule{n.socketpair, sockets(connected(refusal(syscall.ESOCKTNOSUPPORT)), nil, refusal(syscall.EPERM))},
	)
}

// without refuses to give a file the bits, and otherwise continues after itself. Without flags that
// create a file, the permission argument is undefined.
func (m modeCall) without(bits uint32) []instruction {
	p := []instruction{{load, 0, 0, atArgs + 8*m.mode}, {ifSet, 0, 1, bits}, refusal(syscall.EPERM)}
	if m.flags == 0 {
		return p
	}
	return append([]instruction{{load, 0, 0, atArgs + 8*m.flags}, {ifSet, 0, uint8(len(p)), syscall.O_CREAT | tmpFile}}, p...)
}

const tmpFile = 0x400000 // O_TMPFILE without O_DIRECTORY, which it includes

// search returns a binary search in sorted rules. Calls without a rule are allowed.
func search(rules []rule) []instruction {
	allow := instruction{answer, 0, 0, answerAllow}
	switch len(rules) {
	case 0:
		return []instruction{allow}
	case 1:
		r := rules[0]
		return append(append([]instruction{{ifEqual, 0, uint8(len(r.does)), r.number}}, r.does...), allow)
	}
	middle := len(rules) / 2
	below, above := search(rules[:middle]), search(rules[middle:])
	p := []instruction{{ifAbove, 0, 1, rules[middle].number}, {jump, 0, 0, uint32(len(below))}}
	if len(below) <= 255 { // the range of a condition's jump
		p = []instruction{{ifAbove, uint8(len(below)), 0, rules[middle].number}}
	}
	return append(append(p, below...), above...)
}

// sockets runs local for local sockets, allows families, and refuses the rest.
func sockets(local []instruction, families []uint32, refuse instruction) []instruction {
	p := []instruction{{load, 0, 0, atArgs}, {ifEqual, 0, uint8(len(local)), syscall.AF_UNIX}}
	p = append(p, local...)
	for _, family := range families {
		p = append(p, instruction{ifEqual, 0, 1, family}, instruction{answer, 0, 0, answerAllow})
	}
	return append(p, refuse)
}

// typeOfSocket masks out the flags in socket(2)'s second argument.
const typeOfSocket = 0xf

// connected allows local sockets that connect before sending. A datagram socket sends to any name,
// which is behind a pointer.
func connected(otherwise instruction) []instruction {
	p := []instruction{{load, 0, 0, atArgs + 8}, {andWith, 0, 0, typeOfSocket}}
	for _, kind := range []uint32{syscall.SOCK_STREAM, syscall.SOCK_SEQPACKET} {
		p = append(p, instruction{ifEqual, 0, 1, kind}, instruction{answer, 0, 0, answerAllow})
	}
	return append(p, otherwise)
}

// terms returns the parameters for a box. A command without sockets needs no witness.
func (b Box) terms() filterParams {
	tells := seccomptrace.ReportedCalls(b.Views())
	if b.Filter == NoSockets || len(tells) == 0 {
		return filterParams{bits: forbidden()}
	}
	return filterParams{true, tells, forbidden()}
}

// install adds the filter to the calling thread and its children. It returns the witness's
// descriptor, or -1 if there is none, because the kernel is old or another program already listens.
func (b Box) install() (listener int, err error) {
	if t := b.terms(); t.witness {
		p := b.Filter.program(here(), t)
		for _, flags := range []uintptr{newListener | waitKillable, newListener} {
			if fd, err := impose(p, flags); err == nil {
				return fd, nil
			}
		}
	}
	_, err = impose(b.Filter.program(here(), filterParams{bits: forbidden()}), 0)
	return -1, err
}

func impose(p []instruction, flags uintptr) (int, error) {
	if len(p) == 0 {
		return -1, syscall.ENOSYS
	}
	prog := struct {
		n    uint16
		code *instruction
	}{uint16(len(p)), &p[0]}
	return call(here().seccomp, seccompSetFilter, flags, uintptr(unsafe.Pointer(&prog)))
}
