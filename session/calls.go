package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"adze/tool"
)

// answer runs one message's calls and stores their outcomes in the model's order. Calls that only
// read or use the network run concurrently; any other runs alone. It reports whether a tool ended
// the turn.
func (s *Session) answer(t *turn, message string, calls []tool.RawCall) (stop bool, err error) {
	for i := range calls {
		calls[i].Message = message
	}
	asked := len(s.history) - 1
	hydrated := s.runner.Hydrate(t.ctx, s.config.Tools, calls)
	if !mayWait(hydrated) {
		if err := s.store(t.ctx); err != nil {
			s.unsay(asked)
			return false, err
		}
	}
	for _, h := range hydrated {
		s.emit(ToolQueued{tool.Event{Kind: tool.Queued, Call: h.Call, Tool: h.Tool, Heading: h.Heading(), Args: h.Exposed()}})
	}
	outcomes := Message{ID: s.nextID(), Role: ToolRole}
	for i := 0; i < len(calls); {
		n := together(hydrated[i:])
		results := s.run(t, hydrated[i:i+n])
		for j := 0; j < n; {
			ended := ready(results[j:])
			last := i+j+len(ended) == len(calls)
			if serr := s.settleCalls(t, calls[i+j:i+j+len(ended)], ended, last); serr != nil && err == nil {
				err = serr
			}
			for k := range ended {
				stop = stop || ended[k].Stop
				outcomes.Parts = append(outcomes.Parts, Part{Kind: OutcomePart, Outcome: &ended[k]})
			}
			j += len(ended)
		}
		i += n
		if err == nil {
			err = s.windows.refusal()
		}
		if s.unsay(asked) {
			return stop, err
		}
		if err != nil {
			// A store that cannot save must not see further effects; loading the log aborts the
			// rest.
			for _, h := range hydrated[i:] {
				o := s.runner.Skip(h, tool.CodeIO, "not run: the session could not be saved")
				outcomes.Parts = append(outcomes.Parts, Part{Kind: OutcomePart, Outcome: &o})
			}
			s.history = append(s.history, outcomes)
			return stop, err
		}
	}
	t.guard.Close()
	s.history = append(s.history, outcomes)
	s.tellBlind(outcomes)
	if err := t.unable.saw(outcomes); err != nil {
		return stop, err
	}
	return stop, s.reconsider(t, outcomes)
}

// unsay removes an answer that waited to be stored and was lost, and reports whether there was one.
func (s *Session) unsay(answer int) bool {
	lost := s.heldEvents.forget()
	if lost {
		s.history = slices.Clip(s.history[:answer])
	}
	return lost
}

// together returns how many next calls may run concurrently, at least one.
func together(h []tool.Hydration) int {
	n := 0
	for n < len(h) && h[n].Concurrent() {
		n++
	}
	return max(n, 1)
}

// run starts calls and returns a channel for each outcome.
func (s *Session) run(t *turn, calls []tool.Hydration) []chan tool.Outcome {
	results := make([]chan tool.Outcome, len(calls))
	for i, h := range calls {
		results[i] = make(chan tool.Outcome, 1)
		if most, ok := t.budget.call(); !ok {
			results[i] <- s.runner.Skip(h, tool.CodeLimit, fmt.Sprintf("not run: the budget of %d calls is spent", most))
			continue
		}
		if len(calls) == 1 {
			results[i] <- s.exec(t.ctx, h)
			continue
		}
		go func() { results[i] <- s.exec(t.ctx, h) }()
	}
	return results
}

// ready waits for the first outcome and also returns those after it that have arrived by then.
func ready(results []chan tool.Outcome) []tool.Outcome {
	out := []tool.Outcome{<-results[0]}
	for _, next := range results[1:] {
		select {
		case o := <-next:
			out = append(out, o)
		default:
			return out
		}
	}
	return out
}

// settleCall stores one outcome, then shows it.
func (s *Session) settleCall(t *turn, call tool.RawCall, o tool.Outcome) error {
	return s.settleCalls(t, []tool.RawCall{call}, []tool.Outcome{o}, true)
}

// settleCalls stores several outcomes in one commit, which costs one disk sync, and then shows
// them. While the answer is held, they wait with it for the last one.
func (s *Session) settleCalls(t *turn, calls []tool.RawCall, outcomes []tool.Outcome, last bool) error {
	entries, ended := make([]Entry, len(outcomes)), make([]Ended, len(outcomes))
	for i, o := range outcomes {
		t.count(o)
		if o.Stop {
			t.result.Text = o.Output
		}
		ended[i] = s.windows.ended(o)
		t.guard.Observe(calls[i], o, ended[i].Undo != nil)
		entries[i] = s.entry(OutcomeEntry, ended[i])
	}
	if last || !s.heldEvents.add(entries) {
		if err := s.store(t.ctx, entries...); err != nil {
			return err
		}
	}
	for i, o := range outcomes {
		s.emit(ToolEnd{Outcome: o, Redacted: s.config.Tools.Redact(o.Tool, o.Metadata), Window: ended[i].Undo})
	}
	return nil
}

func (s *Session) emit(e Event) {
	if s.config.Observe == nil {
		return
	}
	s.watch.Lock()
	defer s.watch.Unlock()
	if s.heldEvents.on {
		s.heldEvents.events = append(s.heldEvents.events, e)
		return
	}
	s.config.Observe(e)
}

// onTool passes the pipeline's events on. A decision is stored before it is shown.
func (s *Session) onTool(e tool.Event) {
	switch e.Kind {
	case tool.Started:
		s.emit(ToolStart{e})
	case tool.Updated:
		s.emit(ToolUpdate{Event: e, Redacted: s.config.Tools.Redact(e.Tool, e.Metadata)})
	case tool.Asked:
		// A failure surfaces later: an allowed call fails to store its intent next, and a denied
		// one, which has no effect, fails to store its outcome.
		_ = s.store(context.Background(), s.entry(DecisionEntry, Decided{e.Call, e.Tool, e.Needs, *e.Decision}))
		s.emit(ToolAsk{e})
	}
}

// Decided is a decision entry's data.
type Decided struct {
	Call     tool.CallID   `json:"call"`
	Tool     string        `json:"tool"`
	Needs    []tool.Need   `json:"needs"`
	Decision tool.Decision `json:"decision"`
}

// listen connects hooks to the session and its calls.
func (s *Session) listen() {
	c := s.config
	s.hooks = &hooks{tell: c.Hooks, session: c.ID, agent: c.Start.Agent, started: func() bool { return s.started }, ran: s.ranHook, note: s.Note, around: s.windows.around, store: s.store}
	s.runner.Before, s.runner.After = s.hooks.before, s.hooks.after
}

// beginning returns the entries to store before a session's first one: a hook may run before the
// first prompt.
func (s *Session) beginning() []Entry {
	if s.started {
		return nil
	}
	s.started = true
	return []Entry{s.entry(StartEntry, s.config.Start)}
}

// ranHook stores a hook's run and shows its effect. If storing fails, the next entry fails too.
func (s *Session) ranHook(r HookRun) {
	r.Agent = s.config.Start.Agent
	var entries []Entry
	if !(Moment{Event: r.Event}).InBackground() { // these never run before the first prompt
		entries = s.beginning()
	}
	_ = s.store(context.Background(), append(entries, s.entry(HookEntry, r))...)
	for _, text := range []string{r.told(), r.Notice} {
		if text != "" {
			s.emit(Notice{Text: text})
		}
	}
}

// keepLast stores an answer that turned out not to be its turn's last.
func (s *Session) keepLast(t *turn) error {
	m := t.last
	if m == nil {
		return nil
	}
	t.last = nil
	if err := s.store(t.ctx, s.entry(MessageEntry, said(*m))); err != nil {
		return err
	}
	s.keep(*m)
	return nil
}

// A Caller is a program in the model's place. Its calls are stored as its answers.
type Caller struct{ Provider, Name string }

const mostBeside = 64

// callers holds the programs' running calls.
type callers struct {
	sync.Mutex                     // guards session changes
	room       *semaphore.Weighted // taken whole by a call that runs alone; first come, first served
}

// Call runs one call for a program in the model's place, as its own turn, through the same pipeline
// as the model's. Calls that only read or use the network run concurrently, others alone, first
// come, first served. Its id must be new to this session. Any goroutine may use Call, but not
// during Prompt or Run. The conversation in memory does not grow. An error means a failure to write
// the log; the outcome shows whether the call ran.
func (s *Session) Call(ctx context.Context, by Caller, call tool.RawCall) (tool.Outcome, error) {
	t, cancel, h, err := s.admit(ctx, by, &call)
	defer cancel()
	if err != nil {
		return s.runner.Skip(h, tool.CodeIO, "not run: the session could not be saved"), err
	}
	weight := int64(mostBeside)
	if h.Concurrent() {
		weight = 1
	}
	if s.callers.room.Acquire(t.ctx, weight) == nil { // else ctx has ended, which ends the call too
		defer s.callers.room.Release(weight)
	}
	o := s.exec(t.ctx, h)
	s.callers.Lock()
	defer s.callers.Unlock()
	if err = s.settleCall(t, call, o); err == nil {
		err = s.windows.refusal()
	}
	if ended := context.Cause(t.ctx); err == nil && ended != nil {
		s.end(t, ended)
		return o, nil
	}
	s.end(t, err)
	return o, err
}

// admit stores a program's prompt and call in one commit before anything runs.
func (s *Session) admit(ctx context.Context, by Caller, call *tool.RawCall) (*turn, context.CancelFunc, tool.Hydration, error) {
	s.callers.Lock()
	defer s.callers.Unlock()
	if s.callers.room == nil {
		s.callers.room = semaphore.NewWeighted(mostBeside)
	}
	t, cancel := s.begin(ctx)
	s.hooks.greet(t.ctx)
	asked := Message{ID: s.nextID(), Role: User}
	answer := Message{ID: s.nextID(), Role: Assistant, Provider: by.Provider, Model: by.Name, Stop: StopCalls}
	call.Message = answer.ID
	h := s.runner.Hydrate(t.ctx, s.config.Tools, []tool.RawCall{*call})[0]
	shown := tool.Event{Kind: tool.Queued, Call: h.Call, Tool: h.Tool, Heading: h.Heading(), Args: h.Exposed()}
	asked.Parts = []Part{{Kind: TextPart, Text: fmt.Sprintf("%s calls %s %s", by.Name, h.Tool, shortened(string(shown.Args), mostAsked))}}
	answer.Parts = []Part{{Kind: CallPart, Call: call}}
	started := s.started
	entries := append(s.beginning(), s.entry(MessageEntry, said(asked)), s.entry(MessageEntry, said(answer)))
	if err := s.store(t.ctx, entries...); err != nil {
		s.started = started
		return t, cancel, h, err
	}
	s.emit(ToolQueued{shown})
	return t, cancel, h, nil
}

// mostAsked limits a program's arguments in the logged prompt, in bytes.
const mostAsked = 200
