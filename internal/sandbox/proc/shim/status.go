//go:build unix

package shim

import (
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"adze/internal/sandbox/proc/shim/namespace"
	"adze/internal/sandbox/proc/shim/seccomptrace"
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

// news holds back lines until they fill a write, for a time, or until something else is to be told:
// adze would be woken for each line, and that takes longer than most calls of which a line tells.
type news struct {
	mu    sync.Mutex
	lines []byte
	later *time.Timer
}

// newsTime is how long a line is held back.
const newsTime = 2 * time.Millisecond

func (n *news) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.lines)+len(line) > atOnce {
		n.write()
	}
	if len(n.lines) == 0 && line != "" {
		if n.later == nil {
			n.later = time.AfterFunc(newsTime, n.flush)
		} else {
			n.later.Reset(newsTime)
		}
	}
	n.lines = append(n.lines, line...)
}

// flush writes what is held back.
func (n *news) flush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.write()
}

func (n *news) write() {
	if len(n.lines) > 0 {
		say(string(n.lines))
		n.lines = n.lines[:0]
	}
}

func watchedLine() string { return line(Watched, 0, 0) }

// wroteLine is empty for a path that would not be written in one piece, between the lines of others
// (pipe(7)): nobody then knows who changed it.
func wroteLine(path string, below bool) string {
	l := string(Wrote) + " " + flag(below) + " " + word(path) + "\n"
	if len(l) > atOnce {
		return ""
	}
	return l
}

const atOnce = 4096

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

// unboxedLine tells the step as one word, whatever path it names.
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

func factLine(kind Kind, f seccomptrace.Fact) string {
	return string(kind) + " " + strconv.Itoa(int(f.Kind)) + " " + word(f.Text) + "\n"
}

// word is any text in quotes without a blank.
func word(s string) string { return strings.ReplaceAll(strconv.QuoteToASCII(s), " ", `\x20`) }

func parseFact(is Kind, kind, text string) (Event, bool) {
	n, err := strconv.Atoi(kind)
	what, err2 := strconv.Unquote(text)
	return Event{Kind: is, Fact: seccomptrace.Fact{Kind: seccomptrace.Kind(n), Text: what}}, err == nil && err2 == nil
}

// ParseEvent reads one line, without its newline. An unknown line is not an event.
func ParseEvent(s string) (Event, bool) {
	f := strings.Fields(s)
	if len(f) != 3 {
		return Event{}, false
	}
	switch Kind(f[0]) {
	case Unboxed:
		return parseUnboxed(f[1], f[2])
	case Barred, Passed:
		return parseFact(Kind(f[0]), f[1], f[2])
	case Wrote:
		path, err := strconv.Unquote(f[2])
		return Event{Kind: Wrote, Path: path, Below: f[1] == "1"}, err == nil
	}
	a, errA := strconv.Atoi(f[1])
	b, errB := strconv.Atoi(f[2])
	if errA != nil || errB != nil {
		return Event{}, false
	}
	e := Event{Kind: Kind(f[0])}
	switch e.Kind {
	case Begun, Watched:
	case Started:
		e.PID = a
	case Failed:
		e.Errno = syscall.Errno(a)
	case Exited:
		e.Code, e.Sig = a, syscall.Signal(b)
	case Gone:
		e.Ended, e.Left = a, b
	case Exceeded:
		e.Much = Excess(a)
	default:
		return Event{}, false
	}
	return e, true
}
