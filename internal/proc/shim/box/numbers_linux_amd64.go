package box

import "syscall"

const (
	arch       = 0xc000003e // AUDIT_ARCH_X86_64
	hasX32     = true
	sysClone3  = 435
	sysSeccomp = 317
)

// closedHere are the calls of this architecture that are always refused (arch/x86/entry/syscalls/syscall_64.tbl).
var closedHere = []uint32{
	syscall.SYS_PTRACE, 310, 311, 312, // process_vm_readv, process_vm_writev, kcmp
	272, 308, // unshare, setns
	syscall.SYS_MOUNT, syscall.SYS_UMOUNT2, syscall.SYS_PIVOT_ROOT, syscall.SYS_CHROOT,
	syscall.SYS_ADD_KEY, syscall.SYS_REQUEST_KEY, syscall.SYS_KEYCTL,
	321, 298, 323, 304, 300, // bpf, perf_event_open, userfaultfd, open_by_handle_at, fanotify_init
	syscall.SYS_INIT_MODULE, 313, syscall.SYS_DELETE_MODULE, // finit_module
	syscall.SYS_KEXEC_LOAD, 320, syscall.SYS_REBOOT, // kexec_file_load
	syscall.SYS_SWAPON, syscall.SYS_SWAPOFF, syscall.SYS_QUOTACTL, syscall.SYS_ACCT, syscall.SYS_SYSLOG,
	syscall.SYS_SETTIMEOFDAY, syscall.SYS_CLOCK_SETTIME, syscall.SYS_ADJTIMEX, 305, // clock_adjtime
	syscall.SYS_IOPL, syscall.SYS_IOPERM, syscall.SYS_LOOKUP_DCOOKIE, syscall.SYS_VHANGUP, syscall.SYS_USELIB, syscall.SYS_NFSSERVCTL,
}
