package telemetry

import (
	"strings"
	"time"

	"adze/internal/telemetry/metric"
	"adze/session"
	"adze/tool"
)

// Figures are what a process counts. Nil counts nothing.
type Figures struct {
	metric.Set
	turns, requests, tokens, cost, calls *metric.Family
	turnTime, requestTime, first, call   *metric.Family
	tasks, taskTime, running             *metric.Family
	redelivered, lost                    *metric.Family
}

// NewFigures makes the families.
func NewFigures(version string) *Figures {
	f := &Figures{}
	f.Gauge("adze_info", "The program that answers.", "version").Set(1, version)
	f.turns = f.Counter("adze_turns_total", "Turns that ended, by why; those of subagents are apart.", "cause", "agent")
	f.turnTime = f.Histogram("adze_turn_duration_seconds", "Turns, without the time that a person was waited for.", metric.Seconds())
	f.requests = f.Counter("adze_requests_total", "Requests to models, each attempt; the status is ok, aborted, truncated or the kind of failure.", "provider", "model", "status")
	f.requestTime = f.Histogram("adze_request_duration_seconds", "Requests to models, to the end of the answer.", metric.Seconds(), "provider", "model")
	f.first = f.Histogram("adze_request_first_seconds", "Requests to models, to the first of the answer.", metric.Seconds(), "provider", "model")
	f.tokens = f.Counter("adze_tokens_total", "Tokens as providers counted them; the input is without what the cache had or took.", "provider", "model", "kind")
	f.cost = f.Counter("adze_cost_usd_total", "What requests cost, where the price is known.", "provider", "model")
	f.calls = f.Counter("adze_calls_total", "Calls of tools, by how they ended.", "tool", "status")
	f.call = f.Histogram("adze_call_duration_seconds", "Calls of tools that ran.", metric.Seconds(), "tool")
	f.tasks = f.Counter("adze_tasks_total", "Tasks that have a result: its outcome and its cause.", "outcome", "cause")
	f.taskTime = f.Histogram("adze_task_duration_seconds", "Tasks, from their begin here to their end.", metric.Seconds())
	f.running = f.Gauge("adze_tasks_running", "Tasks that run now.")
	f.redelivered = f.Counter("adze_task_redeliveries_total", "Tasks taken that somebody had before.")
	f.lost = f.Counter("adze_lease_losses_total", "Leases that were lost while their task ran.")
	return f
}

// see counts an event.
func (f *Figures) see(e session.Event) {
	if f == nil {
		return
	}
	switch e := e.(type) {
	case session.Requested:
		f.request(requestOf(e))
	case session.ToolEnd:
		f.called(e.Outcome.Tool, string(e.Outcome.Status), e.Outcome.Code, e.Outcome.Duration)
	case session.TaskEnd:
		f.turns.Add(1, string(e.Result.Cause), kindOf(e.Agent))
	case session.TurnEnd:
		f.turned(string(e.Result.Cause), e.Result.Duration)
	}
}

// asked is one request.
type asked struct {
	provider, model, status string
	usage                   session.Usage
	cost                    *float64
	took, first             time.Duration
}

func requestOf(e session.Requested) asked {
	return asked{name(e.Provider), name(e.Model), statusOf(e.Stop, e.Kind), e.Usage, e.Cost, e.Took, e.First}
}

// statusOf is how a request ended, in a word.
func statusOf(stop session.Stop, kind session.ErrorKind) string {
	switch {
	case kind != "":
		return string(kind)
	case stop == session.StopAborted:
		return "aborted"
	case stop == session.StopLength:
		return "truncated"
	case stop == session.StopError:
		return "failed"
	}
	return "ok"
}

func (f *Figures) request(r asked) {
	f.requests.Add(1, r.provider, r.model, r.status)
	f.requestTime.Observe(r.took.Seconds(), r.provider, r.model)
	if r.first > 0 {
		f.first.Observe(r.first.Seconds(), r.provider, r.model)
	}
	for kind, n := range map[string]int{"input": r.usage.Input, "output": r.usage.Output, "cache_read": r.usage.CacheRead, "cache_write": r.usage.CacheWrite} {
		if n > 0 {
			f.tokens.Add(float64(n), r.provider, r.model, kind)
		}
	}
	if r.cost != nil {
		f.cost.Add(*r.cost, r.provider, r.model)
	}
}

func (f *Figures) called(tool, status, code string, took time.Duration) {
	tool = toolName(tool, code)
	f.calls.Add(1, tool, status)
	if took > 0 {
		f.call.Observe(took.Seconds(), tool)
	}
}

// toolName is the name of a tool that is registered: any other one the model thought of.
func toolName(named, code string) string {
	if code == tool.CodeUnknownTool || strings.TrimSpace(named) == "" {
		return "unknown"
	}
	return name(named)
}

func (f *Figures) turned(cause string, took time.Duration) {
	f.turns.Add(1, cause, "")
	f.turnTime.Observe(took.Seconds())
}

// Begun counts a task that begins; what it returns counts its end.
func (f *Figures) Begun() (ended func(outcome, cause string)) {
	if f == nil {
		return func(string, string) {}
	}
	began := time.Now()
	f.running.Add(1)
	return func(outcome, cause string) {
		f.running.Add(-1)
		f.tasks.Add(1, outcome, cause)
		f.taskTime.Observe(time.Since(began).Seconds())
	}
}

// Again counts a task that somebody had before.
func (f *Figures) Again() {
	if f != nil {
		f.redelivered.Add(1)
	}
}

// Lost counts a lease that was lost.
func (f *Figures) Lost() {
	if f != nil {
		f.lost.Add(1)
	}
}

// Queue has the length of a queue asked when the figures are read.
func (f *Figures) Queue(length func() (n float64, ok bool)) {
	if f != nil {
		f.Asked("adze_queue_length", "Tasks that nobody has taken yet.", length)
	}
}
