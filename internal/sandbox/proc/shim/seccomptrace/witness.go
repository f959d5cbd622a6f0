// Package seccomptrace answers calls of a command that mounts and rules cannot decide: those about
// sockets, and the renaming of folders in a view.
//
// The kernel tells a listener of such a call and waits for an answer (seccomp_unotify(2)).
//
//   - connect(2) is performed here: sockets with path names are reached through every other wall
//     (connect_linux.go).
//   - Where it leads to a port or socket that the command does not serve, another process is asked
//     (elsewhere_linux.go).
//   - listen(2) for a port is performed here, and told to that process (serve_linux.go).
//   - Folders are renamed here where the kernel would refuse it, in a view (moves_linux.go).
//
// The one rule: a call that goes on is held by other walls. What is read of a process can change
// before the kernel reads it too. What the listener decides it performs itself, on what it copied
// and opened.
//
// Start reading at Witness.Await and Witness.connect; calls_linux.go lists the calls. Rules of this
// package: those of package shim.
//
// Known limits: Linux only. One listener at a time is possible, so there is none inside another
// program's.
package seccomptrace

import "strconv"

// Settings are what the walls are.
type Settings struct {
	// Moves says that there is a view, in which the kernel does not rename folders that were there
	// before.
	Moves bool
	// Asks is a socket over which another process is asked about ports and sockets that the command
	// does not serve itself; if 0, nobody is.
	Asks int
}

// Moved is the extended attribute of a folder or file that was renamed in a view. Its value is the
// path before, a NUL, and the time at which the entry in the view was made, because programs copy
// attributes to others. A command can set it as well: it says no more than a rename would.
const Moved = "user.adze.moved"

// MovedValue is the value of Moved for an entry that was at a path, and was made anew at a time.
func MovedValue(path string, seconds, nanoseconds int64) string {
	return path + "\x00" + strconv.FormatInt(seconds, 10) + "." + strconv.FormatInt(nanoseconds, 10)
}
