// Package agent runs subagents: a call of the task tool becomes a session of its own, with its own log and fewer
// tools, that works for the turn which asked.
//
// The one rule: a subagent has no right that its parent has not. It passes the same gate under its own name, has
// no tool that its parent lacks, spends its parent's budget, and ends with its parent's call.
//
// Start reading at Agents.Run; kind.go says which tools a subagent has, watch.go what of it is shown.
//
// Known limits: a subagent that was continued has forgotten which files it had read, as any resumed session
// whose files changed; the lock of each subagent's log is held until the program ends.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// grace is how long a subagent's call may take to end after its abort. It is shorter than that of its parent's
// call, so that the subagent is the one that writes down what did not end.
const grace = time.Second

// Config is what subagents work with.
type Config struct {
	// Session is what all have in common: provider, model, store, gate, clip, price, repairer, clock, and a
	// Start with the system prompt. The rest is filled in for each.
	Session session.Config
	// Effort is how hard they think; nil: as their model is configured.
	Effort func() string
	// Budget is that of the turn that they work for.
	Budget func() *session.Budget
	// Tools makes the tools of one subagent, none that its parent has not, and what ends them.
	Tools func(ctx context.Context) (*tool.Set, func(), error)
	// Observe sees what they do, marked as theirs; it is called by several goroutines. Nil: nobody watches.
	Observe func(session.Event)
	// Steps is how many model requests each may make; 0: DefaultSteps.
	Steps int
}

// Agents runs the subagents of one session. It is safe for concurrent use.
type Agents struct {
	prepare func() (Config, error)
	places  chan struct{}

	mu      sync.Mutex
	running map[tool.CallID]*session.Session // by the call that started it
	busy    map[session.ID]bool
}

var _ toolset.Tasks = (*Agents)(nil)

// New makes it. prepare is called once, at the first task; atOnce is how many run beside each other, 0:
// DefaultAtOnce.
func New(atOnce int, prepare func() (Config, error)) *Agents {
	return &Agents{
		prepare: sync.OnceValues(prepare), places: make(chan struct{}, cmp.Or(atOnce, DefaultAtOnce)),
		running: map[tool.CallID]*session.Session{}, busy: map[session.ID]bool{},
	}
}

// Run runs one subagent to its end.
func (a *Agents) Run(ctx context.Context, r toolset.TaskRequest, progress func(toolset.TaskProgress)) (toolset.TaskResult, error) {
	if r.From != "" {
		return toolset.TaskResult{}, tool.Fail(tool.CodeLimit, "a subagent cannot start another; do the work yourself")
	}
	config, err := a.prepare()
	if err != nil {
		return toolset.TaskResult{}, tool.Fail(tool.CodeNoModel, "subagents cannot run here (%w); do the work yourself", err)
	}
	w := &work{agents: a, config: config, request: r, progress: progress}
	if err := w.open(ctx); err != nil {
		return w.result(""), err
	}
	w.tell("waits")
	select {
	case a.places <- struct{}{}:
		defer func() { <-a.places }()
	case <-ctx.Done():
		return w.result(""), context.Cause(ctx)
	}
	if ctx.Err() != nil { // while it waited; nothing of it is in any log
		return w.result(""), context.Cause(ctx)
	}
	return w.run(ctx)
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

// work is one subagent at work.
type work struct {
	agents   *Agents
	config   Config
	request  toolset.TaskRequest
	progress func(toolset.TaskProgress)

	id      session.ID
	name    string
	kind    kind
	resumed bool
	session *session.Session
	watch
}

// open finds out who works: a new subagent, or an earlier one that goes on.
func (w *work) open(ctx context.Context) (err error) {
	r := w.request
	if r.ID == "" {
		w.id = session.NewID(time.Now())
		w.kind, err = kindOf(cmp.Or(r.Agent, Explorer))
		w.name = nameOf(w.kind.name, r.Description)
		return err
	}
	start, err := w.earlier(ctx)
	if err != nil {
		return err
	}
	w.id, w.name, w.resumed = session.ID(r.ID), start.Agent, true
	if w.kind, err = kindOf(kindIn(start.Agent)); err != nil {
		return err
	}
	if r.Agent != "" && r.Agent != w.kind.name {
		return tool.Fail(tool.CodeInvalidArguments, "the task %s is of the agent %s and stays so; start a new one for %s", r.ID, w.kind.name, r.Agent)
	}
	return nil
}

// earlier reads how an earlier task of the same session began. Any other session is as if it were not there.
func (w *work) earlier(ctx context.Context) (session.Start, error) {
	var start session.Start
	entries, err := w.config.Session.Store.Load(ctx, session.ID(w.request.ID))
	if err != nil && !errors.Is(err, session.ErrNotFound) {
		return start, tool.Fail(tool.CodeIO, "the task %s cannot be read: %w", w.request.ID, err)
	}
	for _, e := range entries {
		if e.Type == session.StartEntry {
			_ = json.Unmarshal(e.Data, &start) // a damaged one is no task of this session
			break
		}
	}
	if start.Agent == "" || string(start.Parent) != w.request.Parent {
		return start, tool.Fail(tool.CodeNotFound, "this session has no task %q; leave task_id out to start one", w.request.ID)
	}
	return start, nil
}

// run works until the subagent has answered.
func (w *work) run(ctx context.Context) (toolset.TaskResult, error) {
	if !w.take() {
		return w.result(""), tool.Fail(tool.CodeLimit, "the task %s works already; wait for its report", w.id)
	}
	defer w.leave()
	set, end, err := w.config.Tools(ctx)
	if err != nil {
		return w.result(""), fmt.Errorf("its tools cannot be made: %w", err)
	}
	defer end()
	c := w.sessionConfig(set.Only(w.kind.has))
	if err := w.link(ctx); err != nil {
		return w.result(""), err
	}
	if w.session, err = begin(ctx, c, w.resumed); err != nil {
		return w.result(""), fmt.Errorf("the task %s cannot go on: %w", w.id, err)
	}
	w.start()
	w.tell("works")
	r := w.session.Prompt(ctx, session.Input{Text: w.request.Prompt})
	return w.result(r.Text), w.verdict(ctx, r)
}

func begin(ctx context.Context, c session.Config, resumed bool) (*session.Session, error) {
	if resumed {
		return session.Resume(ctx, c)
	}
	return session.New(c), nil
}

func (w *work) sessionConfig(set *tool.Set) session.Config {
	c := w.config.Session
	c.ID, c.Tools, c.Observe, c.Within, c.Grace = w.id, set, w.see, w.config.Budget(), grace
	c.Waits = w.request.Waits
	if c.Effort = ""; w.config.Effort != nil {
		c.Effort = w.config.Effort()
	}
	c.Limits = session.Limits{Steps: w.steps()}
	c.Start.Parent, c.Start.Agent, c.Start.Call, c.Start.Tools = session.ID(w.request.Parent), w.name, w.request.Call, set.Digest()
	return c
}

func (w *work) steps() int { return cmp.Or(w.config.Steps, DefaultSteps) }

// link writes into the parent's log which log is this subagent's, before it does anything.
func (w *work) link(ctx context.Context) error {
	s := session.Subagent{Session: w.id, Name: w.name, Message: w.request.Message, Call: w.request.Call}
	raw, err := json.Marshal(s)
	if err == nil {
		e := session.Entry{Type: session.SubagentEntry, Time: time.Now(), Data: raw}
		err = w.config.Session.Store.Append(context.WithoutCancel(ctx), session.ID(w.request.Parent), e)
	}
	if err != nil {
		return tool.Fail(tool.CodeIO, "not started, because its record could not be saved: %w", err)
	}
	return nil
}

// take makes sure that nobody else works in the same log.
func (w *work) take() bool {
	w.agents.mu.Lock()
	defer w.agents.mu.Unlock()
	if w.agents.busy[w.id] {
		return false
	}
	w.agents.busy[w.id] = true
	return true
}

func (w *work) start() {
	w.agents.mu.Lock()
	defer w.agents.mu.Unlock()
	w.agents.running[w.request.Call] = w.session
}

func (w *work) leave() {
	w.agents.mu.Lock()
	defer w.agents.mu.Unlock()
	delete(w.agents.busy, w.id)
	delete(w.agents.running, w.request.Call)
}

// result is what came of it so far.
func (w *work) result(text string) toolset.TaskResult {
	return toolset.TaskResult{
		ID: string(w.id), Agent: w.kind.name, Text: strings.TrimSpace(text), Did: w.did(), Changed: w.changed, TaskCounts: w.counts(),
	}
}

// verdict says why a subagent that did not answer did not.
func (w *work) verdict(ctx context.Context, r session.Result) error {
	again := fmt.Sprintf("continue it with task_id %s, or do the work yourself", w.id)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.Cause == session.CauseDone && strings.TrimSpace(r.Text) == "":
		return tool.Fail(tool.CodeFailed, "it ended without a report; %s", again)
	case r.Cause == session.CauseDone:
		return nil
	case r.Cause == session.CauseBudget && w.counts().Steps >= w.steps():
		return tool.Fail(tool.CodeLimit, "it made %d model requests, the most a task may; %s", w.steps(), again)
	case r.Cause == session.CauseBudget:
		return tool.Fail(tool.CodeLimit, "%s", r.Message)
	}
	return tool.Fail(tool.CodeFailed, "%s; %s", r.Message, again)
}
