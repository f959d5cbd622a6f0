package box

import "syscall"

const (
	arch       = 0xc00000b7 // AUDIT_ARCH_AARCH64
	hasX32     = false
	sysClone3  = 435
	sysSeccomp = 277
)

// closedHere are the calls of this architecture that are always refused (include/uapi/asm-generic/unistd.h).
var closedHere = []uint32{
	syscall.SYS_PTRACE, 270, 271, 272, // process_vm_readv, process_vm_writev, kcmp
	97, 268, // unshare, setns
	syscall.SYS_MOUNT, syscall.SYS_UMOUNT2, syscall.SYS_PIVOT_ROOT, syscall.SYS_CHROOT,
	syscall.SYS_ADD_KEY, syscall.SYS_REQUEST_KEY, syscall.SYS_KEYCTL,
	280, 241, 282, 265, 262, // bpf, perf_event_open, userfaultfd, open_by_handle_at, fanotify_init
	syscall.SYS_INIT_MODULE, 273, syscall.SYS_DELETE_MODULE, // finit_module
	syscall.SYS_KEXEC_LOAD, 294, syscall.SYS_REBOOT, // kexec_file_load
	syscall.SYS_SWAPON, syscall.SYS_SWAPOFF, syscall.SYS_QUOTACTL, syscall.SYS_ACCT, syscall.SYS_SYSLOG,
	syscall.SYS_SETTIMEOFDAY, syscall.SYS_CLOCK_SETTIME, syscall.SYS_ADJTIMEX, 266, // clock_adjtime
	syscall.SYS_LOOKUP_DCOOKIE, syscall.SYS_VHANGUP, syscall.SYS_NFSSERVCTL,
}
