// Package agents runs subagents: a call of the task tool becomes a session of its own, with its own
// log and fewer tools, that works for the calling turn.
//
// The one rule: a subagent has no right that its parent lacks. It passes the same permission check
// under its own name and in no wider mode, has no tool that its parent lacks, spends its parent's
// budget, and ends with its parent's call.
//
// Start reading at Agents.Run, then work.go (one subagent, from its call to its report);
// background.go runs tasks beyond their call, report.go has their reports, kind.go selects the
// tools, watch.go shows the progress. A subagent cannot start others.
//
// Known limits: a continued subagent no longer knows which files it had read, like any resumed
// session whose files changed; the lock of each subagent's log is held until the program ends.
package agents

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// Default limits for a subagent's model requests and for concurrent subagents.
const (
	DefaultSteps  = 50
	DefaultAtOnce = 4
)

// grace is the time a subagent's call may take to end after an abort. It is shorter than the parent
// call's, so that the subagent itself records what did not end.
const grace = time.Second

// Config holds the subagents' settings.
type Config struct {
	// Session has the common settings: provider, model, store, gate, clip, price, clock, and a
	// Start with the system prompt. The rest is set for each subagent.
	Session session.Config
	// Effort returns their reasoning effort. If nil, the model's setting applies.
	Effort func() string
	// Budget returns the calling turn's budget.
	Budget func() *session.Budget
	// Tools builds a subagent's tools, all of which the main conversation has too, and returns a
	// function that closes them. mode is its widest permission mode, or "" for the current one.
	Tools func(ctx context.Context, mode string) (*tool.Set, func(), error)
	// Narrower returns the stricter of two permission modes, and InForce the current one. If nil,
	// all subagents use the current mode.
	Narrower func(a, b string) string
	InForce  func() string
	// Kinds holds the available agents. If empty, the built-in ones are used.
	Kinds Kinds
	// System returns a kind's system prompt, with its file's text. If nil, all use Session's
	// prompt.
	System func(k Kind, text string) string
	// Model returns the model named by an agent's file. If nil, all use Session's model.
	Model func(k Kind) (Model, error)
	// Note sends the conversation a background task's report. It may be nil.
	Note func(session.Note)
	// Changed is called when a background task starts or ends. It may be nil.
	Changed func()
	// Observe receives the subagents' events, marked with their names, on several goroutines. It
	// may be nil.
	Observe func(session.Event)
	// Steps limits each subagent's model requests. 0 means DefaultSteps.
	Steps int
}

// Model is a subagent's model.
type Model struct {
	Provider session.Provider
	Name     string // without the provider
	Full     string // provider/name
}

// Agents runs one session's subagents. It is safe for concurrent use.
type Agents struct {
	prepare func() (Config, error)
	places  chan struct{} // one token per running subagent

	life  context.Context // for background tasks
	leave context.CancelCauseFunc
	all   sync.WaitGroup
	news  chan struct{} // buffer of one: a task has reported

	mu      sync.Mutex
	later   []*later
	started int                              // background tasks so far
	running map[tool.CallID]*session.Session // by the id of the starting call, as in the main conversation's events
	busy    map[session.ID]bool
	spoken  map[string]bool // agents whose unsupported settings were reported
}

var _ toolset.Tasks = (*Agents)(nil)

// New returns Agents. It calls prepare once, for the first task. atOnce limits concurrent
// subagents; 0 means DefaultAtOnce.
func New(atOnce int, prepare func() (Config, error)) *Agents {
	a := &Agents{prepare: sync.OnceValues(prepare), places: make(chan struct{}, cmp.Or(atOnce, DefaultAtOnce)), news: make(chan struct{}, 1), running: map[tool.CallID]*session.Session{}, busy: map[session.ID]bool{}, spoken: map[string]bool{}}
	a.life, a.leave = context.WithCancelCause(context.Background())
	return a
}

// Run runs one subagent of the main conversation to its end.
func (a *Agents) Run(ctx context.Context, r toolset.TaskRequest, progress func(toolset.TaskProgress)) (toolset.TaskResult, error) {
	config, err := a.prepare()
	if err != nil {
		return toolset.TaskResult{}, tool.Fail(tool.CodeNoModel, "subagents cannot run here (%w); do the work yourself", err)
	}
	w := &work{agents: a, config: config, request: r, progress: progress}
	if err := w.open(ctx); err != nil {
		return w.result(""), err
	}
	if r.Background {
		return a.background(w)
	}
	return w.inPlace(ctx)
}

// CancelCall aborts one running call of a subagent, by the id in its events.
func (a *Agents) CancelCall(id tool.CallID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for parent, s := range a.running {
		if own, ok := strings.CutPrefix(string(id), string(session.CallOf(parent, ""))); ok && s.CancelCall(tool.CallID(own)) {
			return true
		}
	}
	return false
}
