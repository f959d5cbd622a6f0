package shim

import "adze/internal/sandbox/proc/shim/namespace"

// Spec is what a shim is told to run. It travels over the lifeline, not as the shim's own arguments
// and environment: the command's environment must not steer the shim's Go runtime (GODEBUG, GOGC).
type Spec struct {
	Path   string   // executable, absolute
	Argv   []string // whole argument vector, Argv[0] included
	Env    []string
	Dir    string // working directory, absolute
	Linger bool   // wait for what the command leaves behind instead of ending it
	Limits Limits
	Box    namespace.Box // built before the command starts
}

// Limits are resource limits of the command and of each of its children. Zero leaves the inherited
// one.
type Limits struct {
	FileBytes  uint64 // largest file written, in bytes
	CPUSeconds uint64 // processor time of one process, in seconds
	OpenFiles  uint64 // descriptors of one process
}
