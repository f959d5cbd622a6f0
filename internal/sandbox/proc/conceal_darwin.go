package proc

import "golang.org/x/sys/unix"

// Conceal keeps other programs of the same user, such as the commands that a model runs, from
// reading this process: no debugger may attach to it, and it leaves no core. The environment that
// it was started with stays visible to ps.
func Conceal() {
	_ = unix.PtraceDenyAttach()
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}
