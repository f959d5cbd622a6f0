package proc

import "golang.org/x/sys/unix"

// Conceal protects this process from the user's other programs, such as a model's commands: no
// debugger can attach, and it leaves no core. Its initial environment stays visible to ps.
func Conceal() {
	_ = unix.PtraceDenyAttach()
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}
