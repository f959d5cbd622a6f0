// Package agents runs subagents: a call of the task tool becomes a session of its own, with its own
// log and fewer tools, that works for the turn which asked.
//
// The one rule: a subagent has no right that its parent has not. It passes the same gate under its
// own name and in no wider mode, has no tool that its parent lacks, spends its parent's budget, and
// ends with its parent's call.
//
// Start reading at Agents.Run, then work.go (one subagent from its call to its report);
// background.go is what works on when its call has ended and report.go how that is told, kind.go
// says which tools one has, watch.go what of it is shown. A subagent starts no others.
//
// Known limits: a subagent that was continued has forgotten which files it had read, as any resumed
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

// Defaults of how many model requests a subagent may make, and of how many run beside each other.
const (
	DefaultSteps  = 50
	DefaultAtOnce = 4
)

// grace is how long a subagent's call may take to end after its abort. It is shorter than that of
// its parent's call, so that the subagent is the one that writes down what did not end.
const grace = time.Second

// Config is what subagents work with.
type Config struct {
	// Session is what all have in common: provider, model, store, gate, clip, price,
	// clock, and a Start with the system prompt. The rest is filled in for each.
	Session session.Config
	// Effort is how hard they think; if nil, as their model is configured.
	Effort func() string
	// Budget is that of the turn that they work for.
	Budget func() *session.Budget
	// Tools makes the tools of one subagent, none that the main conversation has not, and what ends
	// them. mode is the widest permission mode for it; if empty, the one in force.
	Tools func(ctx context.Context, mode string) (*tool.Set, func(), error)
	// Narrower is the more careful of two permission modes, and InForce the one in force. If nil, all
	// work in that.
	Narrower func(a, b string) string
	InForce  func() string
	// Kinds are the agents that there are; if empty, those built in.
	Kinds Kinds
	// System is the system prompt of a kind, with the text of its file; if nil, all have that of
	// Session.
	System func(k Kind, text string) string
	// Model finds the model that the file of an agent names; if nil, all work with that of Session.
	Model func(k Kind) (Model, error)
	// Note has the conversation told what a task in the background came to; if nil, nobody is told.
	Note func(session.Note)
	// Changed is called when another task works in the background, or one does not any more; if nil,
	// nobody looks.
	Changed func()
	// Observe sees what they do, marked as theirs; it is called by several goroutines. If nil, nobody
	// watches.
	Observe func(session.Event)
	// Steps is how many model requests each may make; if 0, DefaultSteps.
	Steps int
}

// Model is what a subagent thinks with.
type Model struct {
	Provider session.Provider
	Name     string // without the provider's
	Full     string // provider/name
}

// Agents runs the subagents of one session. It is safe for concurrent use.
type Agents struct {
	prepare func() (Config, error)
	places  chan struct{} // one for each that runs

	life  context.Context // of the tasks in the background
	leave context.CancelCauseFunc
	all   sync.WaitGroup
	news  chan struct{} // holds a token when one has reported

	mu      sync.Mutex
	later   []*later
	started int                              // tasks in the background
	running map[tool.CallID]*session.Session // by the call that started it, as observers of the main conversation know it
	busy    map[session.ID]bool
	spoken  map[string]bool // agents of whose files was said what is not followed
}

var _ toolset.Tasks = (*Agents)(nil)

// New makes it. prepare is called once, at the first task; atOnce is how many run beside each
// other, if 0, DefaultAtOnce.
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

// CancelCall aborts one running call of a subagent, by the id that its events have.
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
