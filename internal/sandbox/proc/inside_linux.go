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

// Inside returns why this process counts as started by one of adze's commands, or "". It detects
// processes with a changed environment, an own session or dead parents by:
//
//   - Mark in the environment of this process or an ancestor
//   - a shim above it or above its session leader; a shim adopts its orphans
//   - adze above it in another session: adze adopts a killed shim's processes
//   - the record of a call whose adze was killed too, if no ancestor is older than that call
//   - the record of a call in another process namespace, which cannot be ruled out from here
//
// It misses processes started by others for a command, such as a system timer or an earlier server.
func (l *Ledger) Inside() string {
	if _, ok := os.LookupEnv(Mark); ok {
		return Mark + " is set"
	}
	return l.Below(os.Getpid())
}

// Below is Inside for another process.
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

type ancestor struct {
	pid int
	shim.Stat
}

// maxLineage limits the walk in case process ids are reused meanwhile.
const maxLineage = 1000

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

// calls returns why a process belongs to a call, or "".
func (a ancestor) calls() string {
	if a.supervises() {
		return fmt.Sprintf("process %d above it supervises a call", a.pid)
	}
	if bytes.Contains(append([]byte{0}, environ(a.pid)...), []byte("\x00"+Mark+"=")) {
		return fmt.Sprintf("process %d above it belongs to a call", a.pid)
	}
	return ""
}

func (a ancestor) supervises() bool {
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", a.pid)) // empty for an ended process
	words := bytes.Split(args, []byte{0})
	return len(words) > 1 && string(words[1]) == shim.Word
}

// outlived finds the record of a call that may have started this process without a living ancestor
// as proof.
func (l *Ledger) outlived(line []ancestor) string {
	if l == nil || len(line) == 0 {
		return ""
	}
	line = slices.DeleteFunc(slices.Clone(line), func(a ancestor) bool { return a.pid == 1 || a.Name == "systemd" }) // they adopt orphans
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

func processSpace() string {
	space, _ := os.Readlink("/proc/self/ns/pid") // without /proc it is unknown
	return space
}

// adoptOrphans makes this process the parent of a killed shim's processes, so that it can recognize
// and end them.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// adopted lists children not started by this process. They come from a killed shim, each in a
// command's session.
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
