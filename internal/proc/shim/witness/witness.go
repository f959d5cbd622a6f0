// Package witness sees which calls of a command its walls refuse, so that nobody has to guess it from what the command
// prints: that could be written to provoke an offer.
//
// The kernel tells a listener of each call that means to write, to connect or to do what the filter closes, and waits for an
// answer (seccomp_unotify(2)). To what walls decide about the answer is always "go on": whether they refuse is looked up
// beside it, in the mounts or rules that will refuse. What the filter closes is always refused.
//
// The one rule: a witness holds nothing and opens nothing. What it reads of a process can change before the kernel reads
// it too; then a fact is wrong, and the walls stand as they stood.
//
// A fact says what was refused inside, and counts unless every process that met it has ended with exit code 0: those had
// another way. Whether it would have gone better outside is for those to judge who can look there.
//
// Start reading at Witness.Await; calls_linux.go lists what is watched. Rules of this package: those of package shim.
//
// Known limits: Linux only; before 6.15 the kernel does not tell how a process ended that somebody else waited for, so each fact counts. One listener at a time is possible, so there is none inside another program's. Writing through
// a descriptor that was open before, extended attributes, renames between two mounts and messages with an address of
// their own (sendmsg) are not seen, nor what a process refuses to have read (a program that its user may not read).
package witness

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
	// Write are the folders and files that rules leave to write; empty: mounts decide.
	Write []string
	// Served are ports of the command's own network that somebody else serves there.
	Served []uint16
}

// maxFacts bounds what is remembered: more says nothing more.
const maxFacts = 32

// Test is a call that is watched, with what must hold of one argument; Argument -1: nothing must.
type Test struct {
	Number   uint32
	Argument int
	Any      uint32 // some of these bits are set; 0: any bit is
}
