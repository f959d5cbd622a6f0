package visibility

import "syscall"

// ChangeTime is when a file was last changed in any way, as the kernel alone sets it.
func ChangeTime(st *syscall.Stat_t) syscall.Timespec { return st.Ctimespec }
