// Package seccomptrace sees which calls of a command its walls refuse, so that nobody has to guess
// it from what the command prints: that could be written to provoke an offer.
//
// The kernel tells a listener of each call that means to write, to connect or to do what the filter
// closes, and waits for an answer (seccomp_unotify(2)). To what walls decide about the answer is
// always "go on": whether they refuse is looked up beside it, in the mounts or rules that will
// refuse. What the filter closes is always refused.
//
// Where rules hold (Landlock) it makes every change of files in the workspace itself, or refuses it
// (supervise_linux.go, policy.go).
//
// Three more calls it performs in the command's place. Of them only connect(2) is a wall that the
// witness itself holds: sockets with path names are reached through every other wall
// (connect_linux.go). It also renames folders in a view (moves_linux.go), which the kernel would
// refuse there, and makes pairs of sockets (pair_linux.go).
//
// The one rule: a call that goes on is held by other walls. What a witness reads of a process can
// change before the kernel reads it too; then a fact is wrong, and the walls stand as they stood.
// What it holds itself it performs itself, on what it copied and opened.
//
// A fact says what was refused inside, and counts unless every process that met it has ended with
// exit code 0: those had another way. Whether it would have gone better outside is for those to
// judge who can look there.
//
// Where somebody asks (Tell), a witness also tells what a command changes below a folder, so that
// it is known who did it.
//
// Start reading at Witness.Await and Witness.connect; calls_linux.go lists what is watched. Rules
// of this package: those of package shim.
//
// Known limits: Linux only; before 6.15 the kernel does not tell how a process ended that somebody
// else waited for, so each fact counts. One listener at a time is possible, so there is none inside
// another program's. Writing through a descriptor that was open before, extended attributes,
// renames between two mounts and messages with an address of their own (sendmsg) are not seen, nor
// what a process refuses to have read (a program that its user may not read).
package seccomptrace

// Kind says what a fact is about.
type Kind byte

// The kinds of facts.
const (
	Written   Kind = 'w' // a file or folder that is there and was to be changed; by path
	Made      Kind = 'm' // a name that was to be made or removed in its folder; by path
	Absent    Kind = 'g' // a name that was to be made in a folder that is not there; by path, as it was asked for
	Fixed     Kind = 'f' // a place that was to be moved, removed or made and is held where it is; by path
	Connected Kind = 'a' // an address and port of a network
	Socket    Kind = 's' // a socket's path
	Abstract  Kind = 'n' // an abstract socket's name
	Called    Kind = 'c' // a call that the filter closes; by name
)

// Fact is one thing that was refused. Text is whatever the command made it: names hold any byte.
type Fact struct {
	Kind Kind
	Text string
}

// Settings are what the walls are, as far as the mounts do not tell.
type Settings struct {
	// Write are the folders and files that rules leave to write; if empty, mounts decide.
	Write []string
	// Files says what the witness changes in the command's place. If nil, the walls decide, and the
	// kernel changes it.
	Files *FilePolicy
	// Confine takes from the calling thread the rights that the command has not. It goes with
	// Files.
	Confine func() error
	// Only says that there are no walls: what is changed is told, and nothing is judged.
	Only bool
	// Moves says that there is a view, in which the kernel does not rename folders that were there
	// before.
	Moves bool
	// OwnNet says that the network is the command's own, and with it all abstract names of sockets.
	OwnNet bool
	// Served are ports of the command's own network that somebody else serves there.
	Served []uint16
}

// Test is a call that is watched, with what must hold of one argument; Argument -1: nothing must.
type Test struct {
	Number   uint32
	Argument int
	Any      uint32 // some of these bits are set; if 0, any bit is
}
