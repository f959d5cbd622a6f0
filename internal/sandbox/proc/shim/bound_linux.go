package shim

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The bounds of a box are looked at as often as it takes to reach them: memory is taken at some
// gigabytes a second at most, and a process starts in a tenth of a millisecond.
const (
	boundOften  = 20 * time.Millisecond
	boundSeldom = 250 * time.Millisecond
	taken       = 4 << 30 // bytes a second
)

// nextLook is when memory could be used up at the earliest.
func nextLook(held, most uint64) time.Duration {
	if most == 0 {
		return boundSeldom / 2
	}
	room := time.Duration(most-min(held, most)) * time.Second / taken
	return min(max(room, boundOften), boundSeldom)
}

// bound ends the command when all its processes together take more than they may. Limits of single
// processes (rlimits) cannot hold that: a limit of address space breaks programs that reserve what
// they never touch, and one of processes counts those of the same user outside, and spares root.
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
			say(exceededLine(much))
			s.kill()
			return
		}
		look.Reset(max(nextLook(held, memory), 10*time.Since(began))) // looking takes a tenth of a processor at most
	}
}

// exceeds says what all processes hold together, at most, and what they have too much of. What a
// process shares with the one that it was forked from counts once: that is asked of the kernel
// where the cheap sum is over the bound, since it looks at each page.
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

// sum is what processes hold by a measure: all of their own, and the most of what they may share
// with others.
func sum(pids []int, measure func(pid int) (own, shared uint64)) (held uint64) {
	most := uint64(0)
	for _, pid := range pids {
		own, shared := measure(pid)
		held, most = held+own, max(most, shared)
	}
	return held + most
}

// proportional is what resident is, where a page that several processes share counts for each in
// part (proc_pid_smaps(5)). A process that does not tell counts as resident does.
func proportional(pid int) (anonymous, shmem uint64) {
	rollup, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil || !bytes.Contains(rollup, []byte("\nPss_Anon:")) {
		return resident(pid)
	}
	_, shmem = resident(pid)
	return field(rollup, "Pss_Anon:"), shmem
}

// resident is what a process holds that no file gives back, in bytes: its own, and what it may
// share with others (proc_pid_status(5)).
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

// kill ends all at once: who takes too much gets no time to tidy up. Where this process is the
// first of a namespace of its own, its end would do it too, but nobody would hear how it went.
func (s *supervisor) kill() {
	if os.Getpid() == 1 {
		_ = syscall.Kill(-1, syscall.SIGKILL)
	}
	s.sweep()
}
