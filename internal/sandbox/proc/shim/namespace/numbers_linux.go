package namespace

import "runtime"

// numbers holds an architecture's constants for the filter. All are compiled in on every platform,
// so that tests can check each.
type numbers struct {
	arch    uint32 // the kernel's number (linux/audit.h); 0 means unknown, without a filter
	x32     bool   // x32Table begins a second call table
	seccomp uintptr

	clone, ioctl, socket, socketpair uint32

	modes []modeCall // calls that set file permissions, besides modesEverywhere

	attributes []uint32 // calls that set modes, owners, times or attributes, besides attributesEverywhere

	closed []uint32 // calls always refused, besides closedEverywhere
}

// modeCall gives the index of a call's permission argument, and of the flags on which it depends;
// flags 0 means always.
type modeCall struct{ number, mode, flags uint32 }

// sysClone3 has the same number everywhere, like all calls from 424 on.
const sysClone3 = 435

func here() numbers {
	switch runtime.GOARCH {
	case "amd64":
		return ofX86()
	case "arm64":
		return ofArm()
	}
	return numbers{}
}

// ofX86 is from arch/x86/entry/syscalls/syscall_64.tbl.
func ofX86() numbers {
	return numbers{arch: 0xc000003e, x32: true, seccomp: 317, clone: 56, ioctl: 16, socket: 41, socketpair: 53, modes: []modeCall{
		{90, 1, 0}, {91, 1, 0}, {268, 2, 0}, {85, 1, 0}, {133, 1, 0}, {259, 2, 0}, // chmod, fchmod, fchmodat, creat, mknod, mknodat
		{2, 2, 1}, {257, 3, 2}, // open, openat
	}, attributes: []uint32{
		90, 91, 268, // chmod, fchmod, fchmodat
		92, 93, 94, 260, // chown, fchown, lchown, fchownat
		132, 235, 261, 280, // utime, utimes, futimesat, utimensat
		188, 189, 190, 197, 198, 199, // setxattr, lsetxattr, fsetxattr, removexattr, lremovexattr, fremovexattr
	}, closed: []uint32{
		101, 310, 311, 312, // ptrace, process_vm_readv, process_vm_writev, kcmp
		272, 308, // unshare, setns
		165, 166, 155, 161, // mount, umount2, pivot_root, chroot
		248, 249, 250, // add_key, request_key, keyctl
		321, 298, 323, 304, 300, // bpf, perf_event_open, userfaultfd, open_by_handle_at, fanotify_init
		175, 313, 176, // init_module, finit_module, delete_module
		246, 320, 169, // kexec_load, kexec_file_load, reboot
		167, 168, 179, 163, 103, // swapon, swapoff, quotactl, acct, syslog
		164, 227, 159, 305, // settimeofday, clock_settime, adjtimex, clock_adjtime
		172, 173, 212, 153, 134, 180, // iopl, ioperm, lookup_dcookie, vhangup, uselib, nfsservctl
	}}
}

// ofArm is from include/uapi/asm-generic/unistd.h.
func ofArm() numbers {
	return numbers{arch: 0xc00000b7, seccomp: 277, clone: 220, ioctl: 29, socket: 198, socketpair: 199, modes: []modeCall{
		{52, 1, 0}, {53, 2, 0}, {33, 2, 0}, {56, 3, 2}, // fchmod, fchmodat, mknodat, openat
	}, attributes: []uint32{
		52, 53, 54, 55, 88, // fchmod, fchmodat, fchownat, fchown, utimensat
		5, 6, 7, 14, 15, 16, // setxattr, lsetxattr, fsetxattr, removexattr, lremovexattr, fremovexattr
	}, closed: []uint32{
		117, 270, 271, 272, // ptrace, process_vm_readv, process_vm_writev, kcmp
		97, 268, // unshare, setns
		40, 39, 41, 51, // mount, umount2, pivot_root, chroot
		217, 218, 219, // add_key, request_key, keyctl
		280, 241, 282, 265, 262, // bpf, perf_event_open, userfaultfd, open_by_handle_at, fanotify_init
		105, 273, 106, // init_module, finit_module, delete_module
		104, 294, 142, // kexec_load, kexec_file_load, reboot
		224, 225, 60, 89, 116, // swapon, swapoff, quotactl, acct, syslog
		170, 112, 171, 266, // settimeofday, clock_settime, adjtimex, clock_adjtime
		18, 58, 42, // lookup_dcookie, vhangup, nfsservctl
	}}
}

// closedEverywhere lists calls that are always refused, with the same number everywhere.
func closedEverywhere() []uint32 {
	return []uint32{
		425, 426, 427, // io_uring_setup, io_uring_enter, io_uring_register
		428, 429, 430, 431, 432, 433, 442, 467, // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, open_tree_attr
		438, // pidfd_getfd
		443, // quotactl_fd
		448, // process_mrelease
	}
}

// attributesEverywhere lists calls that set modes, times or attributes, with the same number
// everywhere.
func attributesEverywhere() []uint32 {
	return []uint32{452, 463, 466, 469} // fchmodat2, setxattrat, removexattrat, file_setattr
}

// modesEverywhere lists calls that set permissions, with the same number everywhere.
func modesEverywhere() []modeCall { return []modeCall{{452, 2, 0}} } // fchmodat2
