package proc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/proc/shim"
)

// Inside explains why this process counts as one that a command of adze started; it returns ""
// where it is none. A changed environment, a session of its own or the end of its parents does not
// hide one:
//
//   - the mark in the environment, of this process or of one above it
//   - a shim above it, or above the leader of its session; a shim adopts the orphans below it
//   - adze above it in another session: it adopts what a killed shim leaves
//   - a record of a call whose adze was killed too, and nothing above this process that is older
//     than that call
//   - a record of a call in another process namespace, which nothing in this one can be told from
//
// Processes that others start for a command, such as a timer of the system or a server that ran
// before, are not seen.
func (l *Ledger) Inside() string {
	if _, ok := os.LookupEnv(Mark); ok {
		return Mark + " is set"
	}
	return l.Below(os.Getpid())
}

// Below explains why another process counts as one that a command of adze started, as Inside does
// for this one.
func (l *Ledger) Below(pid int) string {
	line := lineage(pid)
	above := line
	if len(line) > 0 {
		above = slices.Concat(line, lineage(line[0].Session))
	}
	for i, p := range above {
		if why := p.calls(); why != "" {
			return why
		}
		if i > 0 && above[i-1].Parent == p.pid && above[i-1].Session != p.Session && strings.HasPrefix(p.Name, "adze") {
			return fmt.Sprintf("adze (process %d) has adopted it", p.pid)
		}
	}
	return l.outlived(line)
}

// ancestor is a process as its descendants see it.
type ancestor struct {
	pid int
	shim.Stat
}

// maxLineage bounds the walk, should process ids be reused meanwhile.
const maxLineage = 1000

// lineage lists a process and those above it.
func lineage(pid int) (line []ancestor) {
	for pid > 0 && len(line) < maxLineage {
		st, ok := shim.ReadStat(pid)
		if !ok {
			break
		}
		line = append(line, ancestor{pid, st})
		pid = st.Parent
	}
	return line
}

// calls explains how a process is known to be one of a call; "" where it is not.
func (a ancestor) calls() string {
	if a.supervises() {
		return fmt.Sprintf("process %d above it supervises a call", a.pid)
	}
	if bytes.Contains(append([]byte{0}, environ(a.pid)...), []byte("\x00"+Mark+"=")) {
		return fmt.Sprintf("process %d above it belongs to a call", a.pid)
	}
	return ""
}

// supervises reports whether a process is a shim.
func (a ancestor) supervises() bool {
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", a.pid)) // of one that has ended there is none
	words := bytes.Split(args, []byte{0})
	return len(words) > 1 && string(words[1]) == shim.Word
}

// outlived finds a record of a call that this process may have been started by, although nothing
// above it shows that.
func (l *Ledger) outlived(line []ancestor) string {
	if l == nil || len(line) == 0 {
		return ""
	}
	line = slices.DeleteFunc(slices.Clone(line), func(a ancestor) bool { return a.pid == 1 || a.Name == "systemd" }) // they adopt
	names, _ := readNames(l.dir)
	for _, name := range names {
		var e entry
		data, err := os.ReadFile(filepath.Join(l.dir, name))
		if err != nil || json.Unmarshal(data, &e) != nil || e.Shim.Boot != bootID() {
			continue
		}
		switch oldest := len(line) - 1; {
		case e.Space != "" && e.Space != processSpace():
			return fmt.Sprintf("the call %s runs in another process namespace", e.Tag)
		case !e.Owner.alive() && (oldest < 0 || line[oldest].Start >= e.Shim.Start):
			return fmt.Sprintf("the adze that made the call %s was killed, and nothing above this process is older than that call", e.Tag)
		}
	}
	return ""
}

// processSpace names the process namespace of this process.
func processSpace() string {
	space, _ := os.Readlink("/proc/self/ns/pid") // without /proc nothing is known
	return space
}

// adoptOrphans makes this process the parent of what a killed shim leaves, so that it can be ended
// and is known as its own.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// adopted lists the children that this process did not start: a killed shim has left them, each in
// a session of a command.
func adopted() []int {
	self, ok := shim.ReadStat(os.Getpid())
	if !ok {
		return nil
	}
	return slices.DeleteFunc(shim.Descendants(os.Getpid()), func(pid int) bool {
		st, ok := shim.ReadStat(pid)
		return !ok || st.Parent != os.Getpid() || st.Session == self.Session || ancestor{pid, st}.supervises()
	})
}
