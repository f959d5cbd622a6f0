// Package child is the life of a server that adze starts as a child and talks to over its pipes: a
// language server, an MCP server.
//
// The one rule: nothing of a server is left when Run returns.
//
// Start reading at Life, what is known of a server across its programs, and Run, which is one
// program. Within bounds what may never return. why.go finds the line of standard error that
// says why a program ended.
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

// MaxMemory is how many bytes a server and what it starts may hold; gopls takes 160 to 350 MiB for
// adze itself.
const MaxMemory = 2 << 30

// A server that fails is started again when it is needed, Restarts times within restartTime.
const (
	Restarts    = 3
	restartTime = 10 * time.Minute
)

// LastTime is what the end of a conversation that broke may take to be known, on a machine that is
// busy.
const LastTime = 10 * time.Second

// The states of a server.
const (
	Off      = "off"      // it does not run: nobody needs it
	Starting = "starting" // it runs, and has not answered
	Ready    = "ready"
	Failed   = "failed"
	Held     = "held" // it may not start
)

// ErrNotReady says that a server has not answered yet.
var ErrNotReady = errors.New("it is still starting")

// Life is the state of a server, which may have several programs one after another. Its owner's
// lock guards it.
type Life struct {
	State, Why string // Why it failed or is held
	begun      []time.Time
	changed    chan struct{}
}

// NewLife is the life of a server that does not run.
func NewLife() Life { return Life{State: Off, changed: make(chan struct{})} }

// Turn makes a state known.
func (l *Life) Turn(state, why string) {
	l.State, l.Why = state, why
	l.Stir()
}

// Stir tells those who wait that something changed.
func (l *Life) Stir() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Changed is closed with the next change.
func (l *Life) Changed() <-chan struct{} { return l.changed }

// Runs reports whether there is a program or a conversation.
func (l *Life) Runs() bool { return l.State == Starting || l.State == Ready }

// GivenUp reports a server that failed so often that it is not started again for now.
func (l *Life) GivenUp(now time.Time) bool {
	recent := l.begun[:0]
	for _, at := range l.begun {
		if now.Sub(at) < restartTime {
			recent = append(recent, at)
		}
	}
	l.begun = recent
	return l.State == Failed && len(l.begun) >= Restarts
}

// Begin counts a start.
func (l *Life) Begin(now time.Time) {
	l.begun = append(l.begun, now)
	l.Turn(Starting, "")
}

// Forgive forgets the starts so far.
func (l *Life) Forgive() { l.begun = nil }

// Await waits until the server is ready. lock is that of the owner, which it does not hold.
func (l *Life) Await(ctx context.Context, lock sync.Locker) error {
	for {
		lock.Lock()
		state, why, changed := l.State, l.Why, l.changed
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

// Program is how a server is started.
type Program struct {
	Supervisor proc.Supervisor
	Command    proc.Command // without Talk and Memory
	// Polite is how long it gets to end by itself when its standard input is closed; if 0, it is
	// ended at once.
	Polite  time.Duration
	Started func(*proc.Process) // if nil, nobody looks
	// Went reports whether the program has ended its side of the conversation. Such a program ends by
	// itself, which takes a while to be known on a busy machine.
	Went func() bool
}

// Run starts a program and has talk hold the conversation, which returns when it is over or ctx
// ends. Then the program is ended, with all that it started. The error says that it could not be
// started.
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
	<-talked // standard input is closed now, which asks it to end
	if !ends(context.Background(), process, p.Polite) && p.Went() {
		ends(ctx, process, LastTime)
	}
	kill()
	return process.Wait(), nil
}

// ends reports whether a process ends within a time, and before ctx does.
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

// maxLine is how much is told of a line of standard error, in bytes.
const maxLine = 300

// LastWords is how a program ended, with the line of its standard error that says why.
func LastWords(r proc.Result) string {
	out := fmt.Sprintf("exit code %d", r.Code)
	switch {
	case r.Killed == proc.TooMuchMemory:
		out = fmt.Sprintf("it took more than %d MiB of memory", MaxMemory>>20)
	case r.Killed == proc.Aborted: // adze ended it: what came before is the cause
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

// SilentError says that a server did not answer.
type SilentError struct{ After time.Duration }

func (e SilentError) Error() string {
	return fmt.Sprintf("it did not answer within %s", e.After.Round(time.Millisecond))
}

// Within does something that may never return, for so long, or until ctx ends. over is closed when
// the conversation ends; if nil, nobody says so.
func Within[T any](ctx context.Context, over <-chan struct{}, limit time.Duration, do func() (T, error)) (T, error) {
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
		select { // what was said last counts
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
