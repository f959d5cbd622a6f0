// Package hooks runs the hook programs of the user, the machine's owner or an allowed project.
//
// The one rule: a hook can only restrict. Its result is an objection, a question, other arguments
// (judged like any), or text for the model; silence and "allow" change nothing. A failure always
// has one effect: before a call the user is asked, otherwise it is reported.
//
// Start reading at Engine.Fire; turn.go handles one event, run.go one program, files.go the files
// of the user and the owner. Package dialect parses files and programs' input and output.
//
// A hook runs like any command: same supervisor, sandbox and cleaned environment, no terminal, and
// no remaining processes. ADZE_HOOK=1 makes a nested adze run no hooks.
//
// Known limits: hooks of one event run one at a time, even those of assistants that run them
// concurrently; in the sandbox they have no network.
package hooks

import (
	"context"
	"sync"
	"time"

	"adze/internal/project/hooks/dialect"
	"adze/internal/sandbox/proc"
	"adze/session"
	"adze/tool"
)

// Limits.
const (
	allTime    = 30 * time.Second // for all hooks of one event
	maxOutput  = 64 << 10         // bytes of each stream
	maxContext = 4 << 10          // bytes added by one hook
	maxReason  = 2 << 10          // bytes of its other texts
	closeTime  = 5 * time.Second  // time for running notifications when a run ends
)

// Nested is a variable set for hooks: an adze started by one runs no hooks.
const Nested = "ADZE_HOOK"

// A Program is a hook with its checks.
type Program struct {
	dialect.Hook
	Name string // for the user
	// Holds returns an error if the hook changed since the user allowed it; it is called before
	// each start. If nil, no consent is needed.
	Holds func() error
	// May reports, before each start of a user's hook, whether it may take code from the workspace;
	// inside means only in the full sandbox. If nil, it takes none.
	May func() (inside bool, err error)
}

// An Engine runs hooks. Its fields must not change while it is in use. It is safe for concurrent
// use.
type Engine struct {
	Dir        string   // the workspace
	Env        []string // for every hook; see proc.Environ
	Supervisor proc.Supervisor
	Mode       func() string       // current permission mode
	Mask       func(string) string // hides secrets in hooks' output; may be nil
	Now        func() time.Time

	mu       sync.Mutex
	programs []Program
	beside   sync.WaitGroup  // notifications
	ended    context.Context // ends hooks beside the session
	stop     func()
}

// New returns an Engine for a workspace. Set its other fields before the first event.
func New(dir string) *Engine {
	ended, stop := context.WithCancel(context.Background())
	return &Engine{Dir: dir, Now: time.Now, ended: ended, stop: stop}
}

// Use replaces the hooks, which run in this order.
func (e *Engine) Use(programs ...Program) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.programs = programs
}

// Programs returns the current hooks.
func (e *Engine) Programs() []Program {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.programs
}

// Fire runs the hooks for an event. Without one it does nothing.
func (e *Engine) Fire(ctx context.Context, m session.Moment) tool.Ruling {
	t := moment{engine: e, Moment: m, began: e.Now()}
	about := t.about()
	if len(about) == 0 {
		return tool.Ruling{}
	}
	if m.InBackground() {
		e.aside(ctx, t, about)
		return tool.Ruling{}
	}
	return t.run(ctx, about)
}

// aside runs hooks beside the session until Close.
func (e *Engine) aside(ctx context.Context, t moment, about []chosenHook) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(e.ended, cancel)
	e.beside.Go(func() {
		defer forget()
		defer cancel()
		t.run(ctx, about)
	})
}

// Close waits briefly for running notifications and then ends them.
func (e *Engine) Close() {
	timer := time.AfterFunc(closeTime, e.stop)
	e.beside.Wait()
	timer.Stop()
	e.stop()
}
