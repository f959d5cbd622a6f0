package seccomptrace

import "syscall"

const (
	sysRenameat2     = 316
	sysProcessVMRead = 310
	sysStatx         = 332
)

// ofOldTimes are calls that younger architectures do not have
// (arch/x86/entry/syscalls/syscall_64.tbl).
func ofOldTimes() []call {
	return []call{
		{syscall.SYS_OPEN, opens, -1, 0, 1},
		{syscall.SYS_CREAT, opens, -1, 0, -1},
		{syscall.SYS_MKDIR, makes, -1, 0, -1},
		{syscall.SYS_MKNOD, makes, -1, 0, -1},
		{syscall.SYS_SYMLINK, makes, -1, 1, -1},
		{syscall.SYS_LINK, makes, -1, 1, -1},
		{syscall.SYS_UNLINK, removes, -1, 0, -1},
		{syscall.SYS_RMDIR, removes, -1, 0, -1},
		{syscall.SYS_RENAME, moves, -1, 0, -1},
		{syscall.SYS_CHMOD, changes, -1, 0, -1},
		{syscall.SYS_CHOWN, changes, -1, 0, -1},
		{syscall.SYS_LCHOWN, changes, -1, 0, -1},
		{syscall.SYS_UTIME, changes, -1, 0, -1},
		{syscall.SYS_UTIMES, changes, -1, 0, -1},
		{syscall.SYS_FUTIMESAT, changes, 0, 1, -1},
	}
}

func namesHere() map[uint32]string {
	return map[uint32]string{syscall.SYS_PTRACE: "ptrace", 310: "process_vm_readv", 311: "process_vm_writev", 272: "unshare", 308: "setns",
		syscall.SYS_MOUNT: "mount", syscall.SYS_UMOUNT2: "umount", syscall.SYS_PIVOT_ROOT: "pivot_root", syscall.SYS_CHROOT: "chroot",
		syscall.SYS_ADD_KEY: "add_key", syscall.SYS_REQUEST_KEY: "request_key", syscall.SYS_KEYCTL: "keyctl",
		321: "bpf", 298: "perf_event_open", syscall.SYS_INIT_MODULE: "init_module", 313: "finit_module", syscall.SYS_REBOOT: "reboot",
		syscall.SYS_SYSLOG: "syslog", syscall.SYS_SETTIMEOFDAY: "settimeofday", syscall.SYS_CLOCK_SETTIME: "clock_settime"}
}

// ofOldTimes gives a call the form that younger architectures have.
func (n *notice) ofOldTimes(here uint64) {
	a := n.args
	switch n.nr {
	case syscall.SYS_OPEN:
		n.nr, n.args = syscall.SYS_OPENAT, [6]uint64{here, a[0], a[1], a[2]}
	case syscall.SYS_CREAT:
		n.nr, n.args = syscall.SYS_OPENAT, [6]uint64{here, a[0], syscall.O_CREAT | syscall.O_WRONLY | syscall.O_TRUNC, a[1]}
	case syscall.SYS_MKDIR:
		n.nr, n.args = syscall.SYS_MKDIRAT, [6]uint64{here, a[0], a[1]}
	case syscall.SYS_MKNOD:
		n.nr, n.args = syscall.SYS_MKNODAT, [6]uint64{here, a[0], a[1], a[2]}
	case syscall.SYS_SYMLINK:
		n.nr, n.args = syscall.SYS_SYMLINKAT, [6]uint64{a[0], here, a[1]}
	case syscall.SYS_LINK:
		n.nr, n.args = syscall.SYS_LINKAT, [6]uint64{here, a[0], here, a[1]}
	case syscall.SYS_UNLINK:
		n.nr, n.args = syscall.SYS_UNLINKAT, [6]uint64{here, a[0]}
	case syscall.SYS_RMDIR:
		n.nr, n.args = syscall.SYS_UNLINKAT, [6]uint64{here, a[0], removeFolder}
	case syscall.SYS_RENAME:
		n.nr, n.args = sysRenameat2, [6]uint64{here, a[0], here, a[1]}
	case syscall.SYS_CHMOD:
		n.nr, n.args = syscall.SYS_FCHMODAT, [6]uint64{here, a[0], a[1]}
	case syscall.SYS_CHOWN:
		n.nr, n.args = syscall.SYS_FCHOWNAT, [6]uint64{here, a[0], a[1], a[2]}
	case syscall.SYS_LCHOWN:
		n.nr, n.args = syscall.SYS_FCHOWNAT, [6]uint64{here, a[0], a[1], a[2], noFollow}
	case syscall.SYS_UTIME:
		n.nr, n.args = syscall.SYS_UTIMENSAT, [6]uint64{here, a[0], a[1], 0, uint64(utimbuf)}
	case syscall.SYS_UTIMES:
		n.nr, n.args = syscall.SYS_UTIMENSAT, [6]uint64{here, a[0], a[1], 0, uint64(timevals)}
	case syscall.SYS_FUTIMESAT:
		n.nr, n.args = syscall.SYS_UTIMENSAT, [6]uint64{a[0], a[1], a[2], 0, uint64(timevals)}
	}
}
