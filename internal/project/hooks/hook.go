// Package hooks runs the programs that a user, the owner of the machine or an allowed project has
// put beside a session.
//
// The one rule: a hook only narrows. What it says is an objection, a question, other arguments that
// are judged as any, or text for the model; silence and "allow" are nothing, and whatever it does
// instead of answering is a failure with one outcome: before a call a user is asked, elsewhere it
// is told.
//
// Start reading at Engine.Fire; turn.go is what one moment comes to, run.go one program, files.go
// where hooks of a user and of the owner stand. The room dialect knows what files say and what
// programs read and write.
//
// A hook is a command like any other: the same supervisor, sandbox and cleaned environment, no
// terminal, and nothing of it left when it has ended. ADZE_HOOK=1 tells an adze that it starts to
// run no hooks.
//
// Known limits: hooks of one moment run one after the other, also those of assistants that run them
// side by side; inside the sandbox they have no network.
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

// Bounds.
const (
	allTime    = 30 * time.Second // of the hooks of one moment
	maxOutput  = 64 << 10         // bytes of each stream
	maxContext = 4 << 10          // bytes that one hook adds
	maxReason  = 2 << 10          // bytes of what it says otherwise
	closeTime  = 5 * time.Second  // that notifications under way have when the run ends
)

// Nested is the variable that a hook finds set: an adze that it starts runs no hooks.
const Nested = "ADZE_HOOK"

// Program is a hook that may run.
type Program struct {
	dialect.Hook
	Name string // as a user knows it
	// Holds says right before each start whether it still is what was allowed; if nil, it needs no
	// consent.
	Holds func() error
	// May says of a hook of the user's, right before each start, whether it may take code from the
	// workspace: inside, it runs in a full sandbox only. If nil, it takes none.
	May func() (inside bool, err error)
}

// Engine runs hooks. Its fields do not change while it is in use; it is safe for concurrent use.
type Engine struct {
	Dir        string   // the workspace
	Env        []string // of every hook; see proc.Environ
	Supervisor proc.Supervisor
	Mode       func() string       // of permissions, as it is now
	Mask       func(string) string // hides secrets in what hooks say; if nil, nothing is hidden
	Now        func() time.Time

	mu       sync.Mutex
	programs []Program
	beside   sync.WaitGroup  // notifications
	ended    context.Context // of what runs beside the session
	stop     func()
}

// New makes an engine of a workspace. Its other fields are set before the first moment.
func New(dir string) *Engine {
	ended, stop := context.WithCancel(context.Background())
	return &Engine{Dir: dir, Now: time.Now, ended: ended, stop: stop}
}

// Use puts other hooks in force, in the order in which they run.
func (e *Engine) Use(programs ...Program) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.programs = programs
}

// Programs are those in force.
func (e *Engine) Programs() []Program {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.programs
}

// Fire runs the hooks that are about a moment. It starts nothing where none is.
func (e *Engine) Fire(ctx context.Context, m session.Moment) tool.Ruling {
	t := moment{engine: e, Moment: m, began: e.Now()}
	about := t.about()
	if len(about) == 0 {
		return tool.Ruling{}
	}
	if m.Beside() {
		e.aside(ctx, t, about)
		return tool.Ruling{}
	}
	return t.run(ctx, about)
}

// aside runs hooks beside the session, until Close ends them.
func (e *Engine) aside(ctx context.Context, t moment, about []chosenHook) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(e.ended, cancel)
	e.beside.Go(func() {
		defer forget()
		defer cancel()
		t.run(ctx, about)
	})
}

// Close waits a little for notifications under way, and ends them.
func (e *Engine) Close() {
	timer := time.AfterFunc(closeTime, e.stop)
	e.beside.Wait()
	timer.Stop()
	e.stop()
}
