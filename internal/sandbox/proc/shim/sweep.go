//go:build unix

package shim

import (
	"os"
	"syscall"
	"time"
)

// Grace is the time between SIGTERM and SIGKILL, in which a program saves its work. A tool call may
// take 2 s to end after an abort (tool.Runner.Grace), so it must be shorter.
const Grace = time.Second

const (
	sweepRetry = time.Millisecond // after the first round of killing; doubled each time
	sweepLimit = 2 * time.Second  // later the rest counts as survivors
	maxPasses  = 64               // freezing passes per round; a fork storm settles in a few
)

// sweep ends everything below this process: SIGTERM first, SIGKILL after Grace, until nothing is
// left or sweepLimit has passed. Only the first call does anything.
func (s *supervisor) sweep() {
	s.sweeping.Do(func() {
		s.ask()
		if s.waitGone(Grace) {
			return
		}
		deadline := time.Now().Add(sweepLimit)
		for retry := sweepRetry; time.Now().Before(deadline); retry *= 2 {
			pids, denied := KillTree(s.members)
			s.note(pids)
			if s.waitGone(retry) {
				return
			}
			if len(pids) > 0 && denied == len(pids) {
				break // all belong to another user: retries are useless
			}
		}
		s.finish(len(s.members()))
		os.Exit(0)
	})
}

// ask sends SIGTERM to all, and SIGCONT so that a stopped process can handle it.
func (s *supervisor) ask() {
	pids := s.members()
	s.note(pids)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGTERM)
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

func (s *supervisor) members() []int { return members(os.Getpid(), s.cmd) }

func (s *supervisor) note(pids []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = make(map[int]bool)
	}
	for _, pid := range pids {
		if pid != s.cmd {
			s.ended[pid] = true
		}
	}
}

func (s *supervisor) waitGone(d time.Duration) bool {
	select {
	case <-s.gone:
		return true
	case <-time.After(d):
		return false
	}
}

// KillTree stops the listed processes until list has no new ones, and then kills them all: a
// stopped process can neither fork nor reap its children, whose ids could be reused. It returns the
// signalled processes and the number of refusals.
func KillTree(list func() []int) (pids []int, denied int) {
	seen := make(map[int]bool)
	for range maxPasses {
		fresh := 0
		for _, pid := range list() {
			if !seen[pid] {
				seen[pid] = true
				pids = append(pids, pid)
				_ = syscall.Kill(pid, syscall.SIGSTOP)
				fresh++
			}
		}
		if fresh == 0 {
			break
		}
	}
	for _, pid := range pids {
		if syscall.Kill(pid, syscall.SIGKILL) == syscall.EPERM {
			denied++
		}
	}
	return pids, denied
}
