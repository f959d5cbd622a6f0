package namespace

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// The filters of all architectures are run here by an interpreter, over every call that
// golang.org/x/sys knows there by name, so that a wrong number shows also where no test runs.

// data is what the kernel gives a filter (struct seccomp_data).
type data struct {
	number, arch uint32
	args         [6]uint64
}

// word is what is loaded from an offset, on a machine that puts the lower half first.
func (d data) word(t *testing.T, at uint32) uint32 {
	switch {
	case at == atNumber:
		return d.number
	case at == atArch:
		return d.arch
	case at >= atArgs && at < atArgs+48 && at%4 == 0:
		return uint32(d.args[(at-atArgs)/8] >> (at % 8 * 8))
	}
	t.Fatalf("it loads from %d", at)
	return 0
}

// run is what a filter answers. Like the kernel it refuses jumps that lead out.
func run(t *testing.T, p []instruction, d data) uint32 {
	t.Helper()
	value := uint32(0)
	for at := 0; at < len(p); at++ {
		i, holds := p[at], false
		switch i.code {
		case load:
			value = d.word(t, i.k)
			continue
		case answer:
			return i.k
		case jump:
			at += int(i.k)
			continue
		case andWith:
			value &= i.k
			continue
		case ifEqual:
			holds = value == i.k
		case ifAbove:
			holds = value >= i.k
		case ifSet:
			holds = value&i.k != 0
		default:
			t.Fatalf("instruction %d is %+v", at, i)
		}
		if holds {
			at += int(i.jt)
		} else {
			at += int(i.jf)
		}
	}
	t.Fatalf("call %d has no answer", d.number)
	return 0
}

// known are the architectures that have a filter.
func known() map[string]numbers { return map[string]numbers{"amd64": ofX86(), "arm64": ofArm()} }

// tableOf are the calls of an architecture by name, from the sources of golang.org/x/sys.
func tableOf(t *testing.T, arch string) map[string]uint32 {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Skip("the go command cannot say where golang.org/x/sys is:", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "unix", "zsysnum_linux_"+arch+".go"))
	if err != nil {
		t.Skip(err)
	}
	out := map[string]uint32{}
	for _, m := range regexp.MustCompile(`\bSYS_(\w+)\s+= (\d+)`).FindAllStringSubmatch(string(text), -1) {
		n, _ := strconv.Atoi(m[2])
		out[m[1]] = uint32(n)
	}
	if len(out) < 250 {
		t.Fatalf("%d calls are too few", len(out))
	}
	return out
}

// mustBeRefused are calls by name: those that change namespaces and mounts, look into others, use
// keys, and reach the kernel by ways that nothing else of the box sees.
const mustBeRefused = "PTRACE PROCESS_VM_READV PROCESS_VM_WRITEV KCMP PIDFD_GETFD PROCESS_MRELEASE UNSHARE SETNS MOUNT UMOUNT2 PIVOT_ROOT CHROOT OPEN_TREE MOVE_MOUNT FSOPEN FSCONFIG FSMOUNT FSPICK " +
	"MOUNT_SETATTR OPEN_TREE_ATTR ADD_KEY REQUEST_KEY KEYCTL BPF PERF_EVENT_OPEN USERFAULTFD OPEN_BY_HANDLE_AT FANOTIFY_INIT IO_URING_SETUP IO_URING_ENTER IO_URING_REGISTER INIT_MODULE FINIT_MODULE DELETE_MODULE " +
	"KEXEC_LOAD KEXEC_FILE_LOAD REBOOT SWAPON SWAPOFF QUOTACTL QUOTACTL_FD ACCT SYSLOG SETTIMEOFDAY CLOCK_SETTIME ADJTIMEX CLOCK_ADJTIME IOPL IOPERM LOOKUP_DCOOKIE VHANGUP USELIB NFSSERVCTL"

// mustStay are calls by name that set modes, owners, times or attributes: a filter for who only
// reads refuses them.
const mustStay = "CHMOD FCHMOD FCHMODAT FCHMODAT2 CHOWN FCHOWN LCHOWN FCHOWNAT UTIME UTIMES FUTIMESAT UTIMENSAT SETXATTR LSETXATTR FSETXATTR " +
	"REMOVEXATTR LREMOVEXATTR FREMOVEXATTR SETXATTRAT REMOVEXATTRAT FILE_SETATTR"

func TestFiltersOfAllArchitectures(t *testing.T) {
	refused := map[string]bool{}
	for name := range strings.FieldsSeq(mustBeRefused) {
		refused[name] = true
	}
	stays := strings.Fields(mustStay)
	seen := map[string]bool{}
	for arch, n := range known() {
		byName, named := tableOf(t, arch), map[uint32]string{}
		for name, nr := range byName {
			named[nr], seen[name] = name, true
		}
		for _, f := range []Filter{OwnNet, NoSockets} {
			p := f.program(n, filterParams{bits: setUser, witness: f == OwnNet})
			for nr := range uint32(1200) {
				want := uint32(answerAllow)
				switch name := named[nr]; {
				case f == NoSockets && (slices.Contains(stays, name) || slices.Contains(attributesEverywhere(), nr)), refused[name], name == "SOCKET", name == "SOCKETPAIR": // of family 0
					want = answerErrno | uint32(syscall.EPERM)
				case name == "CLONE3", name == "OPENAT2":
					want = answerErrno | uint32(syscall.ENOSYS)
				}
				if got := run(t, p, data{number: nr, arch: n.arch}); got != want {
					t.Errorf("%s, %c: %s (%d) is answered %#x, want %#x", arch, f, named[nr], nr, got, want)
				}
			}
			checkArguments(t, arch, f, p, byName)
		}
	}
	for name := range refused {
		if !seen[name] {
			t.Errorf("no architecture has %s", name)
		}
	}
}

// checkArguments tries the calls that are refused by what they are given, with rubbish in the upper
// halves.
func checkArguments(t *testing.T, arch string, f Filter, p []instruction, byName map[string]uint32) {
	t.Helper()
	try := func(allowed bool, name string, args ...uint64) {
		t.Helper()
		d := data{number: byName[name], arch: known()[arch].arch}
		for i, a := range args {
			d.args[i] = a | 0xdead<<32
		}
		if got := run(t, p, d); (got == answerAllow) != allowed {
			t.Errorf("%s, %c: %s of %x is answered %#x", arch, f, name, args, got)
		}
	}
	for family := range uint64(64) {
		inet := family == syscall.AF_INET || family == syscall.AF_INET6 || family == syscall.AF_NETLINK
		for kind := range uint64(16) {
			flags := kind | syscall.SOCK_CLOEXEC | syscall.SOCK_NONBLOCK
			local := family == syscall.AF_UNIX && (kind == syscall.SOCK_STREAM || kind == syscall.SOCK_SEQPACKET)
			try((local || inet) && f == OwnNet, "SOCKET", family, flags)
			try(local, "SOCKETPAIR", family, flags)
		}
	}
	for bit := range 32 {
		flag := uint64(1) << bit
		ns := flag&(syscall.CLONE_NEWNS|syscall.CLONE_NEWUTS|syscall.CLONE_NEWIPC|syscall.CLONE_NEWUSER|syscall.CLONE_NEWPID|syscall.CLONE_NEWNET|0x02000000) != 0
		try(!ns, "CLONE", flag|uint64(syscall.SIGCHLD)) // 0x02000000 is CLONE_NEWCGROUP
	}
	for name, at := range map[string]int{"CHMOD": 1, "FCHMOD": 1, "FCHMODAT": 2, "FCHMODAT2": 2, "CREAT": 1, "MKNOD": 1, "MKNODAT": 2} {
		if _, here := byName[name]; here {
			args := make([]uint64, at+1)
			for _, mode := range []uint64{0, 0o644, 0o2755, 0o1777, 0o100755} {
				args[at] = mode
				try(f == OwnNet || name == "CREAT" || name == "MKNOD" || name == "MKNODAT", name, args...)
			}
			args[at] = 0o4755
			try(false, name, args...)
		}
	}
	for name, at := range map[string]int{"OPEN": 1, "OPENAT": 2} {
		if _, here := byName[name]; here {
			args := make([]uint64, at+2)
			for _, flags := range []uint64{syscall.O_CREAT, syscall.O_CREAT | syscall.O_WRONLY, 0x410000 | syscall.O_RDWR, syscall.O_RDWR, 0} {
				args[at], args[at+1] = flags, 0o644
				try(true, name, args...)
				args[at+1] = 0o4755
				try(flags&^syscall.O_RDWR == 0, name, args...)
			}
		}
	}
	try(false, "IOCTL", 0, 0x5412) // TIOCSTI
	try(false, "IOCTL", 0, 0x541c) // TIOCLINUX
	try(true, "IOCTL", 0, 0x5413)  // TIOCGWINSZ
}

func TestForeignCallsEndTheProcess(t *testing.T) {
	all := known()
	for arch, n := range all {
		p := OwnNet.program(n, filterParams{bits: setUser})
		for _, other := range []uint32{0, 0x40000003, 0x40000028, all["amd64"].arch, all["arm64"].arch} { // i386, arm
			for nr := range uint32(600) {
				if got := run(t, p, data{number: nr, arch: other}); other != n.arch && got != answerKill {
					t.Fatalf("%s: call %d of architecture %#x is answered %#x", arch, nr, other, got)
				}
			}
		}
		for _, nr := range []uint32{0, 1, 59, 101, 512, 547} {
			if got := run(t, p, data{number: x32Table | nr, arch: n.arch}); n.x32 && got != answerErrno|uint32(syscall.ENOSYS) {
				t.Errorf("%s: call %d of the second table is answered %#x", arch, nr, got)
			}
		}
	}
}

// TestToldCallsAreNoneThatAreClosed: what a witness is told of goes on, so it must be nothing that
// is closed.
func TestToldCallsAreNoneThatAreClosed(t *testing.T) {
	n := here()
	if n.arch == 0 {
		t.Skip("this architecture has no filter")
	}
	plain, with := OwnNet.program(n, filterParams{bits: setUser}), OwnNet.program(n, filterParams{true, seccomptrace.ReportedCalls(true), setUser})
	watched := map[uint32]bool{}
	for _, nr := range seccomptrace.ReportedCalls(true) {
		watched[nr] = true
		d := data{number: nr, arch: n.arch}
		if got := run(t, plain, d); got != answerAllow {
			t.Errorf("call %d is told of and, where nobody listens, answered %#x", nr, got)
		}
		if got := run(t, with, d); got != answerTell {
			t.Errorf("call %d that is to be told of is answered %#x", nr, got)
		}
	}
	for nr := range uint32(1200) {
		before, after := run(t, plain, data{number: nr, arch: n.arch}), run(t, with, data{number: nr, arch: n.arch})
		if before != after && !watched[nr] && (after != answerTell || before == answerAllow) {
			t.Errorf("call %d is answered %#x with a witness, %#x without", nr, after, before)
		}
	}
}
