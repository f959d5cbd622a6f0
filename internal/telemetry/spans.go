package telemetry

import (
	"strings"
	"sync"
	"time"

	"adze/internal/telemetry/trace"
	"adze/session"
	"adze/tool"
)

// sessionSpans makes the spans of one session. A span is sent when its work ends; its id exists
// from the first work inside it. Subagents run concurrently.
type sessionSpans struct {
	tracer   *trace.Tracer
	now      func() time.Time
	provider func(string) string
	id       string

	mu    sync.Mutex
	turn  *open                 // nil if there is none
	calls map[tool.CallID]*open // running, by their id in the main session
	tasks map[tool.CallID]*open // subagents' turns, by the call that started them
}

type open struct {
	trace.Place
	up    trace.SpanID
	start time.Time
}

// maxOpen limits the stored work, far above any real number.
const maxOpen = 10000

// newSpans returns nil if spans are off.
func newSpans(w *Watch, id string) *sessionSpans {
	if w.Tracer == nil {
		return nil
	}
	return &sessionSpans{tracer: w.Tracer, now: w.now, provider: w.provider, id: id, calls: map[tool.CallID]*open{}, tasks: map[tool.CallID]*open{}}
}

func (s *sessionSpans) see(e session.Event) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := e.(type) {
	case session.MessageDone:
		if e.Message.Role == session.User && e.Message.OwnCall == "" {
			s.currentTurn("") // a prompt begins a turn
		}
	case session.ToolStart:
		s.start(e.Event)
	case session.ToolEnd:
		s.called(e)
	case session.Requested:
		s.requested(e)
	case session.TaskEnd:
		s.taskEnded(e)
	case session.TurnEnd:
		s.turnEnded(e)
	}
}

// openChild opens work inside other work.
func (s *sessionSpans) openChild(up trace.Place) *open {
	o := &open{Place: up, up: up.Span, start: s.now()}
	o.Span = trace.NewSpanID()
	return o
}

// currentTurn returns the current turn of a subagent or the session, opening it if needed.
func (s *sessionSpans) currentTurn(parent tool.CallID) *open {
	if parent == "" {
		if s.turn == nil {
			s.turn = s.openChild(s.tracer.Begin())
		}
		return s.turn
	}
	if o := s.tasks[parent]; o != nil {
		return o
	}
	o := s.openChild(s.upOf(parent))
	if len(s.tasks) < maxOpen {
		s.tasks[parent] = o
	}
	return o
}

// upOf returns the parent of a subagent's turn: its call, or the main turn if the call has ended.
func (s *sessionSpans) upOf(call tool.CallID) trace.Place {
	if o := s.calls[call]; o != nil {
		return o.Place
	}
	return s.place("")
}

// place returns the parent for a call or request. Outside turns (for a user's action) there is
// none.
func (s *sessionSpans) place(parent tool.CallID) trace.Place {
	if parent == "" && s.turn == nil {
		return s.tracer.Begin()
	}
	return s.currentTurn(parent).Place
}

func (s *sessionSpans) start(e tool.Event) {
	if e.Parent == "" && e.Origin == tool.FromCommand {
		s.currentTurn("") // it precedes the prompt that it makes
	}
	if len(s.calls) < maxOpen {
		s.calls[e.Call] = s.openChild(s.place(e.Parent))
	}
}

func (s *sessionSpans) called(e session.ToolEnd) {
	o := e.Outcome
	call := s.calls[o.Call]
	delete(s.calls, o.Call)
	if call == nil { // it never ran
		call = s.openChild(s.place(e.Parent))
		call.start = call.start.Add(-o.Duration)
	}
	named := toolName(o.Tool, o.Code)
	attributes := []trace.Attribute{
		{Key: "gen_ai.operation.name", Value: "execute_tool"}, {Key: "gen_ai.tool.name", Value: named}, {Key: "gen_ai.tool.type", Value: "function"},
		{Key: "adze.call.status", Value: string(o.Status)},
	}
	failed := o.Status != tool.Completed
	if failed {
		attributes = append(attributes, trace.Attribute{Key: "error.type", Value: code(o)})
	}
	s.end(call, "execute_tool "+named, trace.Internal, failed, attributes)
}

// code returns a fixed word for a call's failure.
func code(o tool.Outcome) string {
	if o.Code != "" {
		return name(o.Code)
	}
	return string(o.Status)
}

func (s *sessionSpans) requested(e session.Requested) {
	r, began := requestOf(e), s.now().Add(-e.Duration)
	if e.Parent != "" || e.Message != "" { // a summary requested by the user has no prompt, and subagents' prompts are not observed
		turn := s.currentTurn(e.Parent)
		turn.start = earlier(turn.start, began)
	}
	o := s.openChild(s.place(e.Parent))
	o.start = began
	s.end(o, "chat "+r.model, trace.Client, r.status != "ok" && r.status != "truncated", requestAttributes(r, e, s.provider(r.provider)))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// requestAttributes uses the semantic conventions' names for generative AI.
func requestAttributes(r requestSpan, e session.Requested, provider string) []trace.Attribute {
	out := []trace.Attribute{
		{Key: "gen_ai.operation.name", Value: "chat"}, {Key: "gen_ai.provider.name", Value: provider},
		{Key: "gen_ai.system", Value: provider}, // its older name
		{Key: "gen_ai.request.model", Value: r.model},
		{Key: "gen_ai.usage.input_tokens", Value: int64(r.usage.Input + r.usage.CacheRead + r.usage.CacheWrite)},
		{Key: "gen_ai.usage.output_tokens", Value: int64(r.usage.Output)},
	}
	for key, n := range map[string]int{"cache_read.input_tokens": r.usage.CacheRead, "cache_creation.input_tokens": r.usage.CacheWrite, "reasoning.output_tokens": r.usage.Reasoning} {
		if n > 0 {
			out = append(out, trace.Attribute{Key: "gen_ai.usage." + key, Value: int64(n)})
		}
	}
	if e.Stop != "" {
		out = append(out, trace.Attribute{Key: "gen_ai.response.finish_reasons", Value: []string{string(e.Stop)}})
	}
	if r.first > 0 {
		out = append(out, trace.Attribute{Key: "gen_ai.response.time_to_first_chunk", Value: r.first.Seconds()})
	}
	if r.cost != nil {
		out = append(out, trace.Attribute{Key: "adze.cost_usd", Value: *r.cost})
	}
	if r.status != "ok" && r.status != "truncated" {
		out = append(out, trace.Attribute{Key: "error.type", Value: r.status})
	}
	return out
}

func (s *sessionSpans) taskEnded(e session.TaskEnd) {
	o := s.currentTurn(e.Parent)
	delete(s.tasks, e.Parent)
	s.endTurn(o, kindOf(e.Agent), e.Result)
}

// turnEnded ends the turn, if there is one: an action of the user without a prompt or request has
// none.
func (s *sessionSpans) turnEnded(e session.TurnEnd) {
	o := s.turn
	if s.turn = nil; o != nil {
		s.endTurn(o, "adze", e.Result)
	}
}

func (s *sessionSpans) endTurn(o *open, agent string, r session.Result) {
	o.start = earlier(o.start, s.now().Add(-r.Duration))
	attributes := []trace.Attribute{
		{Key: "gen_ai.operation.name", Value: "invoke_agent"}, {Key: "gen_ai.agent.name", Value: agent}, {Key: "gen_ai.conversation.id", Value: s.id},
		{Key: "adze.turn.cause", Value: string(r.Cause)}, {Key: "adze.turn.requests", Value: int64(r.Steps)},
	}
	if r.Cost != nil {
		attributes = append(attributes, trace.Attribute{Key: "adze.cost_usd", Value: *r.Cost})
	}
	failed := r.Cause != session.CauseDone
	if failed {
		attributes = append(attributes, trace.Attribute{Key: "error.type", Value: string(r.Cause)})
	}
	s.end(o, "invoke_agent "+agent, trace.Internal, failed, attributes)
}

func (s *sessionSpans) end(o *open, called string, kind trace.Kind, failed bool, attributes []trace.Attribute) {
	s.tracer.Add(trace.Span{Place: o.Place, ParentID: o.up, Name: called, Kind: kind, Start: o.start, End: s.now(), Failed: failed, Attributes: attributes})
}

type requestSpan struct {
	provider, model, status string
	usage                   session.Usage
	cost                    *float64
	took, first             time.Duration
}

func requestOf(e session.Requested) requestSpan {
	return requestSpan{name(e.Provider), name(e.Model), statusOf(e.Stop, e.Kind), e.Usage, e.Cost, e.Duration, e.First}
}

// statusOf returns a word for a request's end.
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

// toolName returns a registered tool's name: models invent others.
func toolName(named, code string) string {
	if code == tool.CodeUnknownTool || strings.TrimSpace(named) == "" {
		return "unknown"
	}
	return name(named)
}
