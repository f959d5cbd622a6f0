//go:build amd64 || arm64

package seccomptrace

import "syscall"

// act is a call's purpose.
type act byte

const (
	connects act = iota + 1
	listens
	renames // possibly a folder
)

// calls returns the reported calls by number. Renames are included if there is a view.
func calls(moves bool) map[uint32]act {
	all := map[uint32]act{syscall.SYS_CONNECT: connects, syscall.SYS_LISTEN: listens}
	if moves {
		for nr := range renaming() {
			all[nr] = renames
		}
	}
	return all
}

// ReportedCalls lists the calls that the filter reports to the listener.
func ReportedCalls(moves bool) (out []uint32) {
	for nr := range calls(moves) {
		out = append(out, nr)
	}
	return out
}
