//go:build unix

package proc

import (
	"bufio"
	"os"
	"slices"
	"sync"
	"time"

	"adze/internal/sandbox/proc/shim"
)

// Spare keeps shims whose command left nothing behind, for the next commands without walls:
// starting this program once more takes several times as long as a small command. Each takes one
// command at a time. On systems other than Linux none is kept. The zero value is empty; Close it.
type Spare struct {
	mu     sync.Mutex
	idle   []*kept
	closed bool
}

const (
	// spareCount is how many wait at most: a model rarely runs more commands at once.
	spareCount = 2
	// spareTime is how long one waits. Most models ask for the next command sooner, and an
	// interface that nobody uses is to have no process beside it.
	spareTime = 30 * time.Second
)

// kept is a shim that waits for a command.
type kept struct {
	shim             *os.Process
	lifeline, status *os.File
	events           *bufio.Reader
	limits           shim.Limits // of its commands: it has lowered its own, and cannot raise them
	end              func()      // once
	alarm            *time.Timer
}

// Close ends those that wait, and lets none wait any more.
func (s *Spare) Close() {
	s.mu.Lock()
	idle := s.idle
	s.idle, s.closed = nil, true
	s.mu.Unlock()
	for _, k := range idle {
		k.end()
	}
}

// take is the one that came last of those that fit; if nil, there is none.
func (s *Spare) take(limits shim.Limits) *kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, k := range slices.Backward(s.idle) {
		if k.limits == limits {
			s.idle = slices.Delete(s.idle, i, i+1)
			k.alarm.Stop()
			return k
		}
	}
	return nil
}

func (s *Spare) put(k *kept) {
	k.end = sync.OnceFunc(func() {
		_ = k.lifeline.Close()
		_ = k.status.Close()
		_ = k.shim.Kill() // nothing is below it
		_, _ = k.shim.Wait()
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.idle) >= spareCount {
		go k.end()
		return
	}
	k.alarm = time.AfterFunc(spareTime, func() { s.expire(k) })
	s.idle = append(s.idle, k)
}

// expire ends one that has waited long enough, unless it has been taken.
func (s *Spare) expire(k *kept) {
	s.mu.Lock()
	at := slices.Index(s.idle, k)
	if at >= 0 {
		s.idle = slices.Delete(s.idle, at, at+1)
	}
	s.mu.Unlock()
	if at >= 0 {
		k.end()
	}
}

// reuse gives the command to a shim that waits, and returns how much of the wire it has got; if 0,
// there is none. One that was killed meanwhile refuses, and then nothing has run.
func (p *Process) reuse(wire []byte, streams []*os.File) (sent int) {
	if p.spare == nil {
		return 0
	}
	for k := p.spare.take(p.cmd.Limits); k != nil; k = p.spare.take(p.cmd.Limits) {
		if sent = sendFiles(k.lifeline, wire, streams); sent > 0 {
			p.shim, p.lifeline, p.status, p.events = k.shim, k.lifeline, k.status, k.events
			return sent
		}
		k.end()
	}
	return 0
}

// stay is what becomes of a shim after its command.
type stay struct {
	spare *Spare // where it waits for another; if nil, it ends
	idle  bool   // it has said that it does
}

// release hands a shim on that stays.
func (p *Process) release() {
	if !p.idle {
		return
	}
	p.spare.put(&kept{shim: p.shim, lifeline: p.lifeline, status: p.status, events: p.events, limits: p.cmd.Limits})
	p.shim, p.lifeline, p.status, p.events = nil, nil, nil, nil
}
