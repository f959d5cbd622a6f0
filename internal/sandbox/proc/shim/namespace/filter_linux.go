package namespace

import (
	"cmp"
	"slices"
	"syscall"
	"unsafe"

	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// The system call filter is one program of the classic packet filter (seccomp(2)). It closes what
// lets a command change its namespaces or mounts, look into other processes, use keys, or reach the
// kernel by ways that the other parts of the box cannot see: io_uring opens sockets without
// socket(2), bpf, perf and userfaultfd are ways in of many exploits.
//
// It does not decide by what lies behind pointers, which can change after it looked: clone3 and
// openat2 are answered as if the kernel had none, and libraries then use clone and openat.

// Instructions and answers (linux/filter.h, linux/seccomp.h).
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

	newNamespaces = 0x7e020000 // the flags of clone(2) that make any
	x32Table      = 0x40000000

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

// rule is what one call gets: instructions of which each way ends in an answer.
type rule struct {
	number uint32
	does   []instruction
}

// terms are what a filter depends on beside the architecture. The kernel tells a witness of some
// calls; the zero value is of none. Without a witness nobody connects sockets of this machine, so
// none are made.
type terms struct {
	witness bool
	tells   []uint32 // calls that the kernel tells of
	bits    uint32   // of permissions that no file may be given
}

// Bits of permissions by which a program runs as who owns it, or with its group, for whoever starts
// it: a mount keeps the command from using them, and whoever comes by outside later has no such
// mount.
const (
	setUser  = 0o4000
	setGroup = 0o2000
)

// forbidden are those that nobody may be given by a command. Who is not root has one group to give,
// and needs the other bit for folders.
func forbidden() uint32 {
	if syscall.Geteuid() == 0 {
		return setUser | setGroup
	}
	return setUser
}

// program is the filter of an architecture, nil where its numbers are not known. Calls are searched
// for by halves: the kernel runs the program for every number there is before it puts it on, and
// for each call that has more than one answer.
func (f Filter) program(n numbers, t terms) []instruction {
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
	// Of two for one call the first counts.
	rules = slices.CompactFunc(rules, func(a, b rule) bool { return a.number == b.number })
	return append(p, search(rules)...)
}

func sortRules(rules []rule) {
	slices.SortStableFunc(rules, func(a, b rule) int { return cmp.Compare(a.number, b.number) })
}

// rules are those for each call that is not simply allowed.
func (f Filter) rules(n numbers, t terms) []rule {
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
		// Only the lower half of an argument counts for these calls, whatever the upper half says.
		rule{n.clone, []instruction{{load, 0, 0, atArgs}, {ifSet, 0, 1, newNamespaces}, refuse, allow}},
		rule{n.ioctl, []instruction{{load, 0, 0, atArgs + 8}, {ifEqual, 1, 0, tiocsti}, {ifEqual, 0, 1, tiocLinux}, refusal(syscall.EPERM), allow}},
		rule{n.socket, sockets(local, families, refuse)},
		// Another family has the kernel load what it is made of, also where it then makes no pair.
		rule{n.socketpair, sockets(connected(refusal(syscall.ESOCKTNOSUPPORT)), nil, refusal(syscall.EPERM))},
	)
}

// without refuses to give a file the bits, and otherwise goes on behind. Without the flags that
// make a file, what stands in place of its permissions is rubbish.
func (m modeCall) without(bits uint32) []instruction {
	p := []instruction{{load, 0, 0, atArgs + 8*m.mode}, {ifSet, 0, 1, bits}, refusal(syscall.EPERM)}
	if m.flags == 0 {
		return p
	}
	return append([]instruction{{load, 0, 0, atArgs + 8*m.flags}, {ifSet, 0, uint8(len(p)), syscall.O_CREAT | tmpFile}}, p...)
}

const tmpFile = 0x400000 // O_TMPFILE without O_DIRECTORY, which it holds too

// search finds the rule of a call among some that are sorted, and allows all others.
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
	if len(below) <= 255 { // as far as a condition leads
		p = []instruction{{ifAbove, uint8(len(below)), 0, rules[middle].number}}
	}
	return append(append(p, below...), above...)
}

// sockets does something for those of this machine, allows some families and nothing else.
func sockets(local []instruction, families []uint32, refuse instruction) []instruction {
	p := []instruction{{load, 0, 0, atArgs}, {ifEqual, 0, uint8(len(local)), syscall.AF_UNIX}}
	p = append(p, local...)
	for _, family := range families {
		p = append(p, instruction{ifEqual, 0, 1, family}, instruction{answer, 0, 0, answerAllow})
	}
	return append(p, refuse)
}

// typeOfSocket are the bits of the second argument of socket(2) that are no flags.
const typeOfSocket = 0xf

// connected allows sockets of this machine that are connected before they send. One for datagrams
// sends to any name, which lies behind a pointer.
func connected(otherwise instruction) []instruction {
	p := []instruction{{load, 0, 0, atArgs + 8}, {andWith, 0, 0, typeOfSocket}}
	for _, kind := range []uint32{syscall.SOCK_STREAM, syscall.SOCK_SEQPACKET} {
		p = append(p, instruction{ifEqual, 0, 1, kind}, instruction{answer, 0, 0, answerAllow})
	}
	return append(p, otherwise)
}

// terms are those of the filter of a box. A command without sockets needs nobody to answer for it.
func (b Box) terms() terms {
	tells := seccomptrace.Tells(b.Views())
	if b.Filter == NoSockets || len(tells) == 0 {
		return terms{bits: forbidden()}
	}
	return terms{true, tells, forbidden()}
}

// install puts the filter on the calling thread and all that it starts. With a witness it returns
// the descriptor that this one listens on; -1 where the kernel gives none, because it is old, or
// because another program listens already.
func (b Box) install() (listener int, err error) {
	if t := b.terms(); t.witness {
		p := b.Filter.program(here(), t)
		for _, flags := range []uintptr{newListener | waitKillable, newListener} {
			if fd, err := impose(p, flags); err == nil {
				return fd, nil
			}
		}
	}
	_, err = impose(b.Filter.program(here(), terms{bits: forbidden()}), 0)
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
