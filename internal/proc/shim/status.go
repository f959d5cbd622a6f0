package shim

import (
	"strconv"
	"strings"
	"syscall"
)

// Event is one line of the status pipe. A shim writes Failed, or Started, Exited, Gone in this order;
// Exited is missing when the command itself could not be ended.
type Event struct {
	Kind  Kind
	PID   int           // Started: the command
	Errno syscall.Errno // Failed
	Code  int           // Exited: exit code, -1 when a signal ended the command
	Sig   syscall.Signal
	Ended int // Gone: processes besides the command that were ended
	Left  int // Gone: processes that could not be ended
}

// Kind tells the lines of the status pipe apart.
type Kind string

// The lines a shim writes.
const (
	Started Kind = "start"
	Failed  Kind = "fail"
	Exited  Kind = "exit"
	Gone    Kind = "gone"
)

func line(kind Kind, a, b int) string {
	return string(kind) + " " + strconv.Itoa(a) + " " + strconv.Itoa(b) + "\n"
}

func startLine(pid int) string        { return line(Started, pid, 0) }
func goneLine(ended, left int) string { return line(Gone, ended, left) }
func exitLine(w syscall.WaitStatus) string {
	if w.Signaled() {
		return line(Exited, -1, int(w.Signal()))
	}
	return line(Exited, w.ExitStatus(), 0)
}

func failLine(err error) string {
	errno, ok := err.(syscall.Errno)
	if !ok {
		errno = syscall.EIO
	}
	return line(Failed, int(errno), 0)
}

// ParseEvent reads one line, without its newline. An unknown line is not an event.
func ParseEvent(s string) (Event, bool) {
	f := strings.Fields(s)
	if len(f) != 3 {
		return Event{}, false
	}
	a, errA := strconv.Atoi(f[1])
	b, errB := strconv.Atoi(f[2])
	if errA != nil || errB != nil {
		return Event{}, false
	}
	e := Event{Kind: Kind(f[0])}
	switch e.Kind {
	case Started:
		e.PID = a
	case Failed:
		e.Errno = syscall.Errno(a)
	case Exited:
		e.Code, e.Sig = a, syscall.Signal(b)
	case Gone:
		e.Ended, e.Left = a, b
	default:
		return Event{}, false
	}
	return e, true
}
