//go:build amd64 || arm64

package seccomptrace

import (
	"maps"
	"syscall"
)

// act is what a call means to do.
type act byte

const (
	opens   act = iota + 1 // a file, for writing
	makes                  // a name
	removes                // a name
	moves                  // a name to another
	changes                // what has a name
	connects
	sends // to an address
	binds // an address
	listens
	pairs    // of sockets
	opensHow // as opens, with flags in memory (openat2(2))
)

// call says where the arguments of a call are: their numbers, -1 for what it has not.
type call struct {
	nr       uint32
	act      act
	at, path int // a folder's descriptor, and a path relative to it
	flags    int // of open
}

// watched are the calls that the kernel tells of and then lets go on.
func watched() []call {
	all := append([]call{
		{syscall.SYS_OPENAT, opens, 0, 1, 2},
		{syscall.SYS_SENDTO, sends, -1, -1, -1},
		{syscall.SYS_CONNECT, connects, -1, -1, -1},
		{syscall.SYS_BIND, binds, -1, -1, -1},
		{syscall.SYS_LISTEN, listens, -1, -1, -1},
	}, ofOldTimes()...)
	return append(all,
		call{syscall.SYS_MKDIRAT, makes, 0, 1, -1},
		call{syscall.SYS_MKNODAT, makes, 0, 1, -1},
		call{syscall.SYS_SYMLINKAT, makes, 1, 2, -1},
		call{syscall.SYS_LINKAT, makes, 2, 3, -1},
		call{syscall.SYS_UNLINKAT, removes, 0, 1, -1},
		call{syscall.SYS_RENAMEAT, moves, 0, 1, -1},
		call{sysRenameat2, moves, 0, 1, -1},
		call{syscall.SYS_TRUNCATE, changes, -1, 0, -1},
		call{syscall.SYS_FCHMODAT, changes, 0, 1, -1},
		call{452, changes, 0, 1, -1}, // fchmodat2
		call{syscall.SYS_FCHOWNAT, changes, 0, 1, -1},
		call{syscall.SYS_UTIMENSAT, changes, 0, 1, -1},
	)
}

// writing are the flags of open(2) that make or change a file.
const writing = syscall.O_WRONLY | syscall.O_RDWR | syscall.O_CREAT | syscall.O_TRUNC

// Tests are what the filter asks before it has the kernel tell.
func Tests() []Test {
	var out []Test
	for _, c := range watched() {
		t := Test{Number: c.nr, Argument: -1}
		switch c.act {
		case opens:
			if c.flags >= 0 {
				t.Argument, t.Any = c.flags, writing
			}
		case sends:
			t.Argument = 4
		case changes:
			if c.nr == syscall.SYS_UTIMENSAT {
				t.Argument = c.path // without one it is about an open file
			}
		}
		out = append(out, t)
	}
	return out
}

// Performed are the tests of the calls that a witness performs or must see, whether or not it notes
// facts.
func Performed() []Test {
	return []Test{{Number: syscall.SYS_CONNECT, Argument: -1}, {Number: syscall.SYS_LISTEN, Argument: -1}}
}

// Supervised are the tests of all calls that a witness with a FilePolicy makes itself: those that
// change files, whatever names them.
func Supervised() []Test {
	out := Tests()
	for i := range out {
		if out[i].Number == syscall.SYS_UTIMENSAT {
			out[i] = Test{Number: syscall.SYS_UTIMENSAT, Argument: -1}
		}
		if out[i].Any == writing {
			out[i].Any |= unnamedFile
		}
	}
	for _, nr := range attributes() {
		out = append(out, Test{Number: nr, Argument: -1})
	}
	return out
}

// attributes are calls that change what is no content of a file, beside those that are watched.
func attributes() []uint32 {
	return []uint32{syscall.SYS_FCHMOD, syscall.SYS_FCHOWN, syscall.SYS_SETXATTR, syscall.SYS_LSETXATTR, syscall.SYS_FSETXATTR,
		syscall.SYS_REMOVEXATTR, syscall.SYS_LREMOVEXATTR, syscall.SYS_FREMOVEXATTR}
}

// Changing are the tests of the calls that change files.
func Changing() []Test {
	out := []Test{{Number: sysOpenat2, Argument: -1}}
	all := Tests()
	for i, c := range watched() {
		if c.act != connects && c.act != sends && c.act != binds && c.act != listens {
			out = append(out, all[i])
		}
	}
	return out
}

const sysOpenat2 = 437

// Names are the calls whose refusal a command can fail of, with what a user calls them. Of what the
// filter closes beside them programs try whether it is there, and do without (io_uring,
// userfaultfd, kcmp).
func Names() map[uint32]string {
	all := map[uint32]string{syscall.SYS_CLONE: "clone", syscall.SYS_SOCKET: "socket",
		428: "open_tree", 429: "move_mount", 430: "fsopen", 442: "mount_setattr"}
	maps.Copy(all, namesHere())
	return all
}
