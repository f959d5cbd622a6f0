package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/proc"
)

// Where the kernel bounds memory: in a control group of its own for each command (cgroups(7),
// version 2), below the nearest group above this process that belongs to this user and hands memory
// on. systemd makes such groups for users; of a container or a service root often has one. Without
// any the shim looks at the processes itself.

// groupRoot is where control groups of version 2 are mounted.
const groupRoot = "/sys/fs/cgroup"

// delegated finds the group in which those of commands can be made. It is empty where there is
// none.
func delegated(root, own string) string {
	for at := filepath.Clean("/" + own); ; at = filepath.Dir(at) {
		dir := filepath.Join(root, at)
		if handsOnMemory(dir) {
			return dir
		}
		if at == "/" {
			return ""
		}
	}
}

// handsOnMemory reports a group below which memory is counted and where this user may make groups
// and move processes.
func handsOnMemory(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil || !strings.Contains(" "+strings.TrimSpace(string(data))+" ", " memory ") {
		return false
	}
	for _, path := range []string{dir, filepath.Join(dir, "cgroup.procs")} {
		if unix.Access(path, unix.W_OK) != nil {
			return false
		}
	}
	return true
}

// ownGroup is the group of this process, of version 2.
func ownGroup() string {
	data, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(data)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return path
		}
	}
	return ""
}

// memoryGroup is the control group of one command.
type memoryGroup struct{ dir string }

// boundMemory has the kernel bound the memory of one command. The shim looks at it all the same,
// because it ends a command that takes too much in order.
func (s *Sandbox) boundMemory(w *proc.Walls) {
	s.groups.Do(func() { s.below = delegated(groupRoot, ownGroup()) })
	g, err := newMemoryGroup(s.below, w.Box.Memory, &s.grouped)
	if err != nil {
		return
	}
	born, done := w.Born, w.Done
	w.Born = func(pid int) error {
		_ = g.take(pid) // else the shim bounds it alone
		if born != nil {
			return born(pid)
		}
		return nil
	}
	w.Done = func() (found proc.Findings) {
		if done != nil {
			found = done()
		}
		found.Exhausted = g.exceeded()
		g.remove()
		return found
	}
}

// MemoryBound says what bounds the memory of commands, and how much they may take.
func (s *Sandbox) MemoryBound() string {
	s.machine.Do(func() { s.host.memory = machineMemory() })
	memory, _ := s.host.bounds(s.o)
	if memory == 0 {
		return ""
	}
	by := "by looking at its processes, since there is no control group that this user may divide"
	if s.groups.Do(func() { s.below = delegated(groupRoot, ownGroup()) }); s.below != "" {
		by = "by the kernel, in a control group of its own below " + s.below
	}
	return fmt.Sprintf("the memory of a command is bounded to %.1f GiB %s", float64(memory)/(1<<30), by)
}

var errNoGroup = errors.New("no control group that bounds memory can be made here")

// newMemoryGroup makes a group that may take so much. When it would take more the kernel ends all
// of it.
func newMemoryGroup(below string, memory uint64, number *atomic.Int64) (*memoryGroup, error) {
	if below == "" || memory == 0 {
		return nil, errNoGroup
	}
	g := &memoryGroup{filepath.Join(below, fmt.Sprintf("adze-%d-%d", os.Getpid(), number.Add(1)))}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, err
	}
	for _, set := range [][2]string{{"memory.max", strconv.FormatUint(memory, 10)}, {"memory.oom.group", "1"}} {
		if err := g.write(set[0], set[1]); err != nil {
			g.remove()
			return nil, err
		}
	}
	_ = g.write("memory.swap.max", "0") // not each kernel counts swap
	return g, nil
}

// write sets what the kernel has made; a name that is not there is not made.
func (g *memoryGroup) write(name, value string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// take moves a process into the group, with all that it will start.
func (g *memoryGroup) take(pid int) error { return g.write("cgroup.procs", strconv.Itoa(pid)) }

// exceeded reports that the kernel has ended processes of the group.
func (g *memoryGroup) exceeded() bool {
	data, _ := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	for line := range strings.Lines(string(data)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
			return n != "0"
		}
	}
	return false
}

// remove removes the group when nothing is left in it.
func (g *memoryGroup) remove() { _ = unix.Rmdir(g.dir) }
