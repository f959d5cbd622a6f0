//go:build unix

package shim

import (
	"strconv"
	"strings"
	"syscall"

	"adze/internal/sandbox/proc/shim/namespace"
)

func line(kind Kind, a, b int) string {
	return string(kind) + " " + strconv.Itoa(a) + " " + strconv.Itoa(b) + "\n"
}

func begunLine() string               { return line(Begun, 0, 0) }
func startLine(pid int) string        { return line(Started, pid, 0) }
func goneLine(ended, left int) string { return line(Gone, ended, left) }
func exitLine(w syscall.WaitStatus) string {
	if w.Signaled() {
		return line(Exited, -1, int(w.Signal()))
	}
	return line(Exited, w.ExitStatus(), 0)
}

func exceededLine(much Excess) string { return line(Exceeded, int(much), 0) }

func failLine(err error) string {
	if fault, ok := err.(*namespace.Fault); ok {
		return unboxedLine(fault)
	}
	errno, ok := err.(syscall.Errno)
	if !ok {
		errno = syscall.EIO
	}
	return line(Failed, int(errno), 0)
}

// unboxedLine encodes the step as one word, even if it names a path.
func unboxedLine(f *namespace.Fault) string {
	step, cause := f.Step, f.Err
	for {
		inner, ok := cause.(*namespace.Fault)
		if !ok {
			break
		}
		step, cause = step+": "+inner.Step, inner.Err
	}
	errno, ok := cause.(syscall.Errno)
	if !ok {
		step, errno = step+": "+cause.Error(), 0
	}
	return string(Unboxed) + " " + strconv.Itoa(int(errno)) + " " + word(step) + "\n"
}

func parseUnboxed(errno, text string) (Event, bool) {
	n, err := strconv.Atoi(errno)
	step, err2 := strconv.Unquote(text)
	return Event{Kind: Unboxed, Errno: syscall.Errno(n), Step: step}, err == nil && err2 == nil
}

// word quotes a text without blanks.
func word(s string) string { return strings.ReplaceAll(strconv.QuoteToASCII(s), " ", `\x20`) }

// ParseEvent parses one line, without its newline. It returns false for an unknown line.
func ParseEvent(s string) (Event, bool) {
	f := strings.Fields(s)
	if len(f) != 3 {
		return Event{}, false
	}
	if Kind(f[0]) == Unboxed {
		return parseUnboxed(f[1], f[2])
	}
	a, errA := strconv.Atoi(f[1])
	b, errB := strconv.Atoi(f[2])
	if errA != nil || errB != nil {
		return Event{}, false
	}
	e := Event{Kind: Kind(f[0])}
	switch e.Kind {
	case Begun:
	case Started:
		e.PID = a
	case Failed:
		e.Errno = syscall.Errno(a)
	case Exited:
		e.Code, e.Sig = a, syscall.Signal(b)
	case Gone:
		e.Ended, e.Survivors = a, b
	case Exceeded:
		e.Excess = Excess(a)
	default:
		return Event{}, false
	}
	return e, true
}
