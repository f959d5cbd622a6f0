//go:build amd64 || arm64

package seccomptrace

import "syscall"

// act is what a call means to do.
type act byte

const (
	connects act = iota + 1
	sends        // to an address
	binds        // an address
	listens
	pairs   // of sockets
	renames // a folder, perhaps
)

// calls are those that the kernel asks the listener about, by their numbers. Renames are among them
// where there is a view.
func calls(moves bool) map[uint32]act {
	all := map[uint32]act{syscall.SYS_SENDTO: sends, syscall.SYS_CONNECT: connects, syscall.SYS_BIND: binds, syscall.SYS_LISTEN: listens,
		syscall.SYS_SOCKETPAIR: pairs}
	if moves {
		for nr := range renaming() {
			all[nr] = renames
		}
	}
	return all
}

// Tests are what the filter asks before it has the kernel tell. Pairs of sockets it tells apart
// itself.
func Tests(moves bool) (out []Test) {
	for nr, does := range calls(moves) {
		t := Test{Number: nr, Argument: -1}
		switch does {
		case pairs:
			continue
		case sends:
			t.Argument = 4 // without an address it is a connected socket's
		}
		out = append(out, t)
	}
	return out
}
