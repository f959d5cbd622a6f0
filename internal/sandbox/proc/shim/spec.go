package shim

import "adze/internal/sandbox/proc/shim/namespace"

// Spec is what a shim is told to run. It travels over the lifeline, not as the shim's own arguments
// and environment: the command's environment must not steer the shim's Go runtime (GODEBUG, GOGC).
type Spec struct {
	Path   string   // executable, absolute
	Argv   []string // whole argument vector, Argv[0] included
	Env    []string
	Dir    string        // working directory, absolute
	Linger bool          // wait for what the command leaves behind instead of ending it
	Box    namespace.Box // built before the command starts
}
