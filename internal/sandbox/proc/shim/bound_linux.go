package shim

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Memory and processes are checked as often as they can reach their limits: memory grows by a few
// gigabytes a second at most, and a process starts in a tenth of a millisecond.
const (
	boundOften  = 20 * time.Millisecond
	boundSeldom = 250 * time.Millisecond
	taken       = 4 << 30 // bytes per second
)

// nextLook returns the earliest time until the memory limit can be reached.
func nextLook(held, most uint64) time.Duration {
	if most == 0 {
		return boundSeldom / 2
	}
	room := time.Duration(most-min(held, most)) * time.Second / taken
	return min(max(room, boundOften), boundSeldom)
}

// bound ends the command when all its processes together exceed a limit. Resource limits (rlimits)
// cannot do this: an address space limit breaks programs that reserve memory without using it, and
// a process limit counts the user's processes outside and spares root.
func (s *supervisor) bound(memory, processes uint64) {
	look := time.NewTimer(boundOften)
	defer look.Stop()
	for {
		select {
		case <-s.gone:
			return
		case <-look.C:
		}
		began := time.Now()
		held, much := s.exceeds(memory, processes)
		if much != 0 {
			writeStatus(exceededLine(much))
			s.kill()
			return
		}
		look.Reset(max(nextLook(held, memory), 10*time.Since(began))) // uses a tenth of a processor at most
	}
}

// exceeds returns an upper bound of the memory in use and the exceeded limit, if any. It counts
// memory shared after a fork once, with the kernel's per-page sums, but only if the cheap sum is
// over the limit.
func (s *supervisor) exceeds(memory, processes uint64) (held uint64, much Excess) {
	pids := s.members()
	if processes > 0 && uint64(len(pids)) > processes {
		return 0, Processes
	}
	if memory == 0 {
		return 0, 0
	}
	if held = sum(pids, resident); held <= memory {
		return held, 0
	}
	if held = sum(pids, proportional); held > memory {
		return held, Memory
	}
	return held, 0
}

// sum adds up the processes' own memory and the largest shared part.
func sum(pids []int, measure func(pid int) (own, shared uint64)) (held uint64) {
	most := uint64(0)
	for _, pid := range pids {
		own, shared := measure(pid)
		held, most = held+own, max(most, shared)
	}
	return held + most
}

// proportional is like resident, but counts a page shared by several processes in part for each
// (proc_pid_smaps(5)). If that is unavailable, it returns resident.
func proportional(pid int) (anonymous, shmem uint64) {
	rollup, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil || !bytes.Contains(rollup, []byte("\nPss_Anon:")) {
		return resident(pid)
	}
	_, shmem = resident(pid)
	return field(rollup, "Pss_Anon:"), shmem
}

// resident returns a process's memory not backed by files, in bytes: its own and the possibly
// shared part (proc_pid_status(5)).
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

// kill kills everything at once, without time to clean up. In a process namespace of its own, this
// process's exit would do that too, but without a report.
func (s *supervisor) kill() {
	if os.Getpid() == 1 {
		_ = syscall.Kill(-1, syscall.SIGKILL)
	}
	pids, _ := KillTree(s.members)
	s.note(pids)
	s.sweep()
}
