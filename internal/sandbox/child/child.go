// Package child runs a server that adze starts as a child and talks to over pipes: a language
// server or an MCP server.
//
// The one rule: nothing of a server is left when Run returns.
//
// Start reading at Life, the state of a server across its programs, and Run, which runs one
// program. Within limits calls that may never return. why.go finds the line of standard error with
// the cause of an exit.
package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"adze/internal/sandbox/proc"
)

// MaxMemory limits a server with its children, in bytes; gopls takes 160 to 350 MiB for adze
// itself.
const MaxMemory = 2 << 30

// A failed server is restarted on demand, at most Restarts times within restartTime.
const (
	Restarts    = 3
	restartTime = 10 * time.Minute
)

// LastTime is the wait for a program's exit after it has closed its connection, on a busy machine.
const LastTime = 10 * time.Second

// Server states.
const (
	Off      = "off"      // not running, not needed
	Starting = "starting" // running, no response yet
	Ready    = "ready"
	Failed   = "failed"
	Held     = "held" // not allowed to start
)

// ErrNotReady means that the server has not responded yet.
var ErrNotReady = errors.New("it is still starting")

// Life is a server's state across several programs in turn. Its owner's lock guards it.
type Life struct {
	State, Reason string // reason for Failed or Held
	starts        []time.Time
	changed       chan struct{}
}

// NewLife returns the state of a stopped server.
func NewLife() Life { return Life{State: Off, changed: make(chan struct{})} }

// Turn changes the state and wakes waiters.
func (l *Life) Turn(state, why string) {
	l.State, l.Reason = state, why
	l.Wake()
}

// Wake wakes waiters.
func (l *Life) Wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Changed returns a channel that is closed with the next change.
func (l *Life) Changed() <-chan struct{} { return l.changed }

// Runs reports whether the server is starting or ready.
func (l *Life) Runs() bool { return l.State == Starting || l.State == Ready }

// GivenUp reports whether the server failed too often to be restarted now.
func (l *Life) GivenUp(now time.Time) bool {
	recent := l.starts[:0]
	for _, at := range l.starts {
		if now.Sub(at) < restartTime {
			recent = append(recent, at)
		}
	}
	l.starts = recent
	return l.State == Failed && len(l.starts) >= Restarts
}

// Begin counts a start.
func (l *Life) Begin(now time.Time) {
	l.starts = append(l.starts, now)
	l.Turn(Starting, "")
}

// Forgive resets the start count.
func (l *Life) Forgive() { l.starts = nil }

// Await waits until the server is ready. lock is the owner's; the caller must not hold it.
func (l *Life) Await(ctx context.Context, lock sync.Locker) error {
	for {
		lock.Lock()
		state, why, changed := l.State, l.Reason, l.changed
		lock.Unlock()
		switch state {
		case Ready:
			return nil
		case Failed, Held, Off:
			return errors.New(cmp.Or(why, "it does not run"))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ErrNotReady
		}
	}
}

// A Program describes how to start a server.
type Program struct {
	Supervisor proc.Supervisor
	Command    proc.Command // without Talk and Memory
	// Polite is the time to exit after standard input is closed, before a kill.
	Polite  time.Duration
	Started func(*proc.Process) // may be nil
	// Closed reports whether the program has closed its side of the connection. It then exits by
	// itself, which may take a while on a busy machine.
	Closed func() bool
}

// Run starts a program and calls talk, which must return when the connection or ctx ends. Then it
// ends the program with all its children. It returns an error only if the start failed.
func (p Program) Run(ctx context.Context, talk func(in io.WriteCloser, out io.Reader)) (proc.Result, error) {
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	talked := make(chan struct{})
	c := p.Command
	c.Memory = MaxMemory
	c.Talk = func(in io.WriteCloser, out io.Reader) {
		defer close(talked)
		talk(in, out)
	}
	process, err := p.Supervisor.Start(life, c)
	if err != nil {
		return proc.Result{}, err
	}
	if p.Started != nil {
		p.Started(process)
	}
	<-talked // standard input is closed now, which asks it to exit
	if !ends(context.Background(), process, p.Polite) && p.Closed() {
		ends(ctx, process, LastTime)
	}
	kill()
	return process.Wait(), nil
}

// ends waits for the exit and returns false after within or when ctx ends.
func ends(ctx context.Context, p *proc.Process, within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.Done():
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// in bytes
const maxLine = 300

// LastWords describes how a program ended, with its error line from standard error.
func LastWords(r proc.Result) string {
	out := fmt.Sprintf("exit code %d", r.Code)
	switch {
	case r.Killed == proc.TooMuchMemory:
		out = fmt.Sprintf("it took more than %d MiB of memory", MaxMemory>>20)
	case r.Killed == proc.Aborted: // adze ended it: the earlier output has the cause
		out = "it was ended"
	case r.Signal != 0:
		out = "signal " + proc.SignalName(r.Signal)
	}
	words := strings.TrimSpace(reason(r.Errors.Head + r.Errors.Tail))
	if len(words) > maxLine {
		words = strings.ToValidUTF8(words[:maxLine], "") + "…"
	}
	if words != "" {
		out += ": " + words
	}
	return out
}

// SilentError means that a server did not respond.
type SilentError struct{ After time.Duration }

func (e SilentError) Error() string {
	return fmt.Sprintf("it did not answer within %s", e.After.Round(time.Millisecond))
}

// WaitFor runs do, which may never return, until limit has passed or ctx or over ends. over is
// closed when the connection ends and may be nil.
func WaitFor[T any](ctx context.Context, over <-chan struct{}, limit time.Duration, do func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := do()
		done <- answer{value, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var none T
	select {
	case a := <-done:
		return a.value, a.err
	case <-over:
		select { // a last response counts
		case a := <-done:
			return a.value, a.err
		case <-time.After(100 * time.Millisecond):
		}
		return none, errors.New("it ended")
	case <-timer.C:
		return none, SilentError{limit}
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
