//go:build amd64 || arm64

package seccomptrace

import "syscall"

// act is what a call means to do.
type act byte

const (
	connects act = iota + 1
	listens
	renames // a folder, perhaps
)

// calls are those that the kernel asks the listener about, by their numbers. Renames are among them
// where there is a view.
func calls(moves bool) map[uint32]act {
	all := map[uint32]act{syscall.SYS_CONNECT: connects, syscall.SYS_LISTEN: listens}
	if moves {
		for nr := range renaming() {
			all[nr] = renames
		}
	}
	return all
}

// Tells are the calls of which the filter has the kernel tell.
func Tells(moves bool) (out []uint32) {
	for nr := range calls(moves) {
		out = append(out, nr)
	}
	return out
}
