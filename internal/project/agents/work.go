package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/session"
	"adze/tool"
	"adze/toolset"
)

type work struct {
	agents   *Agents
	config   Config
	request  toolset.TaskRequest
	progress func(toolset.TaskProgress)

	id          session.ID
	name        string
	kind        Kind
	text        string // from its file
	mode        string // widest permission mode; "" for the current one
	resumed     bool
	maxRequests int // model requests
	set         *tool.Set
	session     *session.Session
	watch
}

// open creates a new subagent or continues an earlier one.
func (w *work) open(ctx context.Context) (err error) {
	r := w.request
	if r.ID == "" {
		w.id = session.NewID(time.Now())
		w.kind, err = w.config.Kinds.ForTask(cmp.Or(r.Agent, Explorer))
		w.name = nameOf(w.kind.Label(), r.Description)
	} else {
		err = w.goOn(ctx)
	}
	if err != nil {
		return err
	}
	if w.text, err = w.kind.Text(ctx); err != nil {
		return tool.Fail(tool.CodeIO, "the agent %s cannot be read: %w", w.kind.Name, err)
	}
	if w.config.Narrower != nil {
		w.mode = w.kind.Mode
	}
	if w.maxRequests = cmp.Or(w.config.Steps, DefaultSteps); w.kind.Steps > 0 {
		w.maxRequests = min(w.maxRequests, w.kind.Steps)
	}
	return nil
}

// goOn finds the earlier task to continue.
func (w *work) goOn(ctx context.Context) error {
	r := w.request
	start, err := w.earlier(ctx)
	if err != nil {
		return err
	}
	w.id, w.name, w.resumed = session.ID(r.ID), start.Agent, true
	if w.kind, err = w.config.Kinds.ForTask(kindIn(start.Agent)); err != nil {
		return err
	}
	if own := w.kind.Label(); r.Agent != "" && r.Agent != own {
		return tool.Fail(tool.CodeInvalidArguments, "the task %s is of the agent %s and stays so; start a new one for %s", r.ID, own, r.Agent)
	}
	return nil
}

// earlier reads an earlier task's start in the same session. It treats other sessions' tasks as
// missing.
func (w *work) earlier(ctx context.Context) (session.Start, error) {
	var start session.Start
	entries, err := w.config.Session.Store.Load(ctx, session.ID(w.request.ID))
	if err != nil && !errors.Is(err, session.ErrNotFound) {
		return start, tool.Fail(tool.CodeIO, "the task %s cannot be read: %w", w.request.ID, err)
	}
	for _, e := range entries {
		if e.Type == session.StartEntry {
			_ = json.Unmarshal(e.Data, &start) // a damaged one does not match this session
			break
		}
	}
	if start.Agent == "" || string(start.Parent) != w.request.Parent {
		return start, tool.Fail(tool.CodeNotFound, "this session has no task %q; leave task_id out to start one", w.request.ID)
	}
	return start, nil
}

// inPlace waits for a free place and runs.
func (w *work) inPlace(ctx context.Context) (toolset.TaskResult, error) {
	w.tell("waits")
	places := w.agents.places
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-ctx.Done():
		return w.result(""), context.Cause(ctx)
	}
	if ctx.Err() != nil { // aborted while waiting; the log has only the request
		return w.result(""), context.Cause(ctx)
	}
	if w.inBackground() { // already taken and linked
		return w.run(ctx)
	}
	if err := w.take(); err != nil {
		return w.result(""), err
	}
	defer w.leave()
	return w.run(ctx)
}

// run works until the subagent has answered.
func (w *work) run(ctx context.Context) (toolset.TaskResult, error) {
	set, end, err := w.config.Tools(ctx, w.mode)
	if err != nil {
		return w.result(""), fmt.Errorf("its tools cannot be made: %w", err)
	}
	defer end()
	w.set = set.Only(func(d tool.Definition) bool { return d.Name != taskTool && w.kind.HasTool(d) })
	if !w.inBackground() {
		if err := w.link(); err != nil {
			return w.result(""), err
		}
	}
	if w.session, err = begin(ctx, w.sessionConfig(), w.resumed); err != nil {
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

func (w *work) sessionConfig() session.Config {
	c := w.config.Session
	c.ID, c.Tools, c.Observe, c.ParentBudget, c.Grace = w.id, w.set, w.see, w.config.Budget(), grace
	c.Waits, c.Mode = w.request.Waits, w.mode
	w.think(&c)
	if w.config.System != nil {
		c.Start.System = w.config.System(w.kind, w.text)
	}
	c.Await, c.OnResume = nil, nil
	if c.Limits = (session.Limits{Steps: w.maxRequests}); w.inBackground() {
		c.Limits.Time = w.config.Session.Limits.Time // a background task has no turn time limit
	}
	c.Start.Parent, c.Start.Agent, c.Start.Call, c.Start.Tools = session.ID(w.request.Parent), w.name, w.request.Call, w.set.Digest()
	return c
}

// think sets the model and the effort from the agent's file, if available.
func (w *work) think(c *session.Config) {
	if c.Effort = ""; w.config.Effort != nil {
		c.Effort = w.config.Effort()
	}
	says := w.kind.IgnoredSettings(func(name string) bool { _, has := w.set.Get(name); return has })
	if w.kind.Model != "" && w.config.Model != nil {
		m, err := w.config.Model(w.kind)
		switch {
		case err != nil:
			says = append(says, fmt.Sprintf("it works with %s, because its model %q cannot be used: %v", c.Start.Model, w.kind.Model, err))
		case m.Full != c.Start.Model:
			c.Provider, c.Model, c.Start.Model, c.Effort = m.Provider, m.Name, m.Full, ""
		}
	}
	if w.kind.Effort != "" {
		c.Effort = w.kind.Effort
	}
	w.tellOnce(says)
}

// tellOnce reports an agent's unsupported settings at its first task.
func (w *work) tellOnce(says []string) {
	a, key := w.agents, w.kind.Path
	a.mu.Lock()
	first := !a.spoken[key]
	a.spoken[key] = true
	a.mu.Unlock()
	if wide := w.kind.Mode; wide != "" && w.config.Narrower != nil && w.config.InForce != nil {
		if mode := w.config.Narrower(w.config.InForce(), w.mode); mode != wide {
			says = append(says, fmt.Sprintf("its file wants the permission mode %s; it works in %s", wide, mode))
		}
	}
	if first && len(says) > 0 {
		w.show(session.Notice{Text: fmt.Sprintf("the agent %s (%s): %s", w.kind.Name, w.kind.Path, strings.Join(says, "; "))})
	}
}

// inBackground reports whether this is a background task.
func (w *work) inBackground() bool { return w.request.Background }

// linked returns the entry that links the two logs.
func (w *work) linked() session.Subagent {
	return session.Subagent{Session: w.id, Name: w.name, Message: w.request.Message, Call: w.request.Call, Background: w.inBackground()}
}

// link writes that entry to the parent's log, before the subagent does anything.
func (w *work) link() error {
	if err := w.store(session.SubagentEntry, w.linked()); err != nil {
		return tool.Fail(tool.CodeIO, "not started, because its record could not be saved: %w", err)
	}
	return nil
}

// store writes to the parent's log even after an abort.
func (w *work) store(kind session.EntryType, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return w.config.Session.Store.Append(context.Background(), session.ID(w.request.Parent), session.Entry{Type: kind, Time: time.Now(), Data: raw})
}

// take ensures that no other work uses the same log.
func (w *work) take() error {
	w.agents.mu.Lock()
	defer w.agents.mu.Unlock()
	if w.agents.busy[w.id] {
		return tool.Fail(tool.CodeLimit, "the task %s works already; wait for its report", w.id)
	}
	w.agents.busy[w.id] = true
	return nil
}

func (w *work) start() {
	w.agents.mu.Lock()
	defer w.agents.mu.Unlock()
	if !w.inBackground() { // the call's id may be reused by now
		w.agents.running[w.request.Call] = w.session
	}
}

func (w *work) leave() {
	w.agents.mu.Lock()
	defer w.agents.mu.Unlock()
	delete(w.agents.busy, w.id)
	if !w.inBackground() {
		delete(w.agents.running, w.request.Call)
	}
}

func (w *work) result(text string) toolset.TaskResult {
	return toolset.TaskResult{
		ID: string(w.id), Agent: w.kind.Label(), Text: strings.TrimSpace(text), CallLines: w.did(), Changed: w.changed, TaskCounts: w.counts(),
	}
}

// verdict returns the error for a subagent that did not answer.
func (w *work) verdict(ctx context.Context, r session.Result) error {
	again := fmt.Sprintf("continue it with task_id %s, or do the work yourself", w.id)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.Cause == session.CauseDone && strings.TrimSpace(r.Text) == "":
		return tool.Fail(tool.CodeFailed, "it ended without a report; %s", again)
	case r.Cause == session.CauseDone:
		return nil
	case r.Cause == session.CauseBudget && w.counts().Steps >= w.maxRequests:
		return tool.Fail(tool.CodeLimit, "it made %d model requests, the most a task may; %s", w.maxRequests, again)
	case r.Cause == session.CauseBudget:
		return tool.Fail(tool.CodeLimit, "%s", r.Message)
	}
	return tool.Fail(tool.CodeFailed, "%s; %s", r.Message, again)
}
