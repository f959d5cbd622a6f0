package namespace

import "runtime"

// numbers are what the filter must know of an architecture. All that are known stand here whatever
// the program is built for, so that a test can try each.
type numbers struct {
	arch    uint32 // as the kernel names it (linux/audit.h); if 0, it is not known, and there is no filter
	x32     bool   // a second table of calls begins at x32Table
	seccomp uintptr

	clone, ioctl, socket, socketpair uint32

	modes []modeCall // the calls that give a file permissions, beside those of modesEverywhere

	attributes []uint32 // the calls that set modes, owners, times or attributes, beside those of attributesEverywhere

	closed []uint32 // the calls that are always refused, beside those of closedEverywhere
}

// modeCall says which argument of a call holds permissions, and where these count only with some
// flags, which one those; if 0, they always do.
type modeCall struct{ number, mode, flags uint32 }

// sysClone3 has one number everywhere, as all calls from 424 on.
const sysClone3 = 435

// here are those of this program.
func here() numbers {
	switch runtime.GOARCH {
	case "amd64":
		return ofX86()
	case "arm64":
		return ofArm()
	}
	return numbers{}
}

// ofX86 are those of arch/x86/entry/syscalls/syscall_64.tbl.
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

// ofArm are those of include/uapi/asm-generic/unistd.h.
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

// closedEverywhere are always refused, and have one number everywhere.
func closedEverywhere() []uint32 {
	return []uint32{
		425, 426, 427, // io_uring_setup, io_uring_enter, io_uring_register
		428, 429, 430, 431, 432, 433, 442, 467, // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, open_tree_attr
		438, // pidfd_getfd
		443, // quotactl_fd
		448, // process_mrelease
	}
}

// attributesEverywhere set modes, times or attributes, and have one number everywhere.
func attributesEverywhere() []uint32 {
	return []uint32{452, 463, 466, 469} // fchmodat2, setxattrat, removexattrat, file_setattr
}

// modesEverywhere give permissions, and have one number everywhere.
func modesEverywhere() []modeCall { return []modeCall{{452, 2, 0}} } // fchmodat2
