package shim

import "adze/internal/sandbox/proc/shim/namespace"

// Spec describes the command to run. It travels over the lifeline, not as the shim's own arguments
// and environment, because the command's environment must not affect the shim's Go runtime
// (GODEBUG, GOGC).
type Spec struct {
	Path   string   // executable, absolute
	Argv   []string // complete, including Argv[0]
	Env    []string
	Dir    string        // working directory, absolute
	Linger bool          // wait for remaining processes instead of ending them
	Box    namespace.Box // built before the command starts
}
