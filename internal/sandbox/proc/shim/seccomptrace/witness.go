// Package seccomptrace handles system calls that mounts and rules cannot decide: those on sockets,
// and renames of folders in a view.
//
// The kernel reports such a call to a listener and waits for a response (seccomp_unotify(2)).
//
//   - connect(2) is performed here: path sockets are reachable through all other walls
//     (connect_linux.go).
//   - For a port or socket that the command does not serve, another process is asked
//     (elsewhere_linux.go).
//   - listen(2) on a port is performed here and reported to that process (serve_linux.go).
//   - Folders are renamed here if the kernel would refuse it, in a view (moves_linux.go).
//
// The one rule: a continued call is limited by other walls, because the command's memory can change
// before the kernel reads it. Calls decided by the listener are performed by it, on copied and
// opened data.
//
// Start reading at Listener.Await and Listener.connect; calls_linux.go lists the calls. Rules of
// this package: those of package shim.
//
// Known limits: Linux only. The kernel allows one listener, so there is none inside another program
// with one.
package seccomptrace

import "strconv"

// Settings describe the walls.
type Settings struct {
	// Moves means that there is a view, in which the kernel cannot rename existing folders.
	Moves bool
	// Asks is a socket for questions about ports and sockets that the command does not serve
	// itself; 0 means none.
	Asks int
}

// Moved is the extended attribute of a folder or file renamed in a view: the old path, a NUL, and
// the entry's creation time in the view, because programs copy attributes to other files. A command
// can set it too, with the same effect as a rename.
const Moved = "user.adze.moved"

// MovedValue returns Moved's value for an old path and a creation time.
func MovedValue(path string, seconds, nanoseconds int64) string {
	return path + "\x00" + strconv.FormatInt(seconds, 10) + "." + strconv.FormatInt(nanoseconds, 10)
}
