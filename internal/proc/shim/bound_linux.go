package shim

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// boundEvery is how often the bounds of a box are looked at: memory is taken at some gigabytes a second at most, and a
// process starts in a tenth of a millisecond.
const boundEvery = 100 * time.Millisecond

// bound ends the command when all its processes together take more than they may. Limits of single processes (rlimits)
// cannot hold that: a limit of address space breaks programs that reserve what they never touch, and one of processes
// counts those of the same user outside, and spares root.
func (s *supervisor) bound(memory, processes uint64) {
	tick := time.NewTicker(boundEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.gone:
			return
		case <-tick.C:
		}
		if much := s.exceeds(memory, processes); much != 0 {
			say(exceededLine(much))
			s.kill()
			return
		}
	}
}

func (s *supervisor) exceeds(memory, processes uint64) Excess {
	pids := s.members()
	if processes > 0 && uint64(len(pids)) > processes {
		return Processes
	}
	if memory == 0 {
		return 0
	}
	held, shared := uint64(0), uint64(0)
	for _, pid := range pids {
		anonymous, shmem := resident(pid)
		held, shared = held+anonymous, max(shared, shmem)
	}
	if held+shared > memory {
		return Memory
	}
	return 0
}

// resident is what a process holds that no file gives back, in bytes: its own, and what it may share with others
// (proc_pid_status(5)).
func resident(pid int) (anonymous, shmem uint64) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, 0
	}
	return field(status, "RssAnon:"), field(status, "RssShmem:")
}

func field(status []byte, name string) uint64 {
	_, rest, ok := bytes.Cut(status, []byte("\n"+name))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	kib, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(string(line), "kB")), 10, 64)
	return kib << 10
}

// kill ends all at once: who takes too much gets no time to tidy up. Where this process is the first of a namespace of its
// own, its end would do it too, but nobody would hear how it went.
func (s *supervisor) kill() {
	if os.Getpid() == 1 {
		_ = syscall.Kill(-1, syscall.SIGKILL)
	}
	s.sweep()
}
