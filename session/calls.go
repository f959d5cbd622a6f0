package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"adze/tool"
)

// answer runs the calls of one message and stores their outcomes in the model's order. Calls that
// only read or use the network run together; any other runs alone. It reports whether a tool ended
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
			// A store that cannot save must not see further effects; on load the rest is aborted,
			// too.
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

// unsay takes an answer back that waited to be stored and was not, and reports whether it did.
func (s *Session) unsay(answer int) bool {
	lost := s.held.forget()
	if lost {
		s.history = slices.Clip(s.history[:answer])
	}
	return lost
}

// together is how many of the next calls may run beside each other: at least one.
func together(h []tool.Hydration) int {
	n := 0
	for n < len(h) && h[n].Concurrent() {
		n++
	}
	return max(n, 1)
}

// run starts calls and returns where each outcome will come.
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

// ready waits for the first outcome, and takes along those after it that are there by then.
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

// settleCalls stores outcomes that are there together in one go, which costs one sync of the disk,
// and shows them then. Where the answer still waits to be stored, they wait with it for the last.
func (s *Session) settleCalls(t *turn, calls []tool.RawCall, outcomes []tool.Outcome, last bool) error {
	entries, ended := make([]Entry, len(outcomes)), make([]Ended, len(outcomes))
	for i, o := range outcomes {
		t.count(o)
		if o.Stop {
			t.result.Text = o.Output
		}
		ended[i] = s.windows.ended(o)
		t.guard.Saw(calls[i], o, ended[i].Undo != nil)
		entries[i] = s.entry(OutcomeEntry, ended[i])
	}
	if last || !s.held.add(entries) {
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
	if s.held.on {
		s.held.events = append(s.held.events, e)
		return
	}
	s.config.Observe(e)
}

// onTool passes on the pipeline's events; a decision is stored before it is shown.
func (s *Session) onTool(e tool.Event) {
	switch e.Kind {
	case tool.Started:
		s.emit(ToolStart{e})
	case tool.Updated:
		s.emit(ToolUpdate{Event: e, Redacted: s.config.Tools.Redact(e.Tool, e.Metadata)})
	case tool.Asked:
		// A failure is not lost: the intent record of an allowed call fails next, and a denied call
		// has no effect; its outcome then meets the same failing store.
		_ = s.store(context.Background(), s.entry(DecisionEntry, Decided{e.Call, e.Tool, e.Needs, *e.Decision}))
		s.emit(ToolAsk{e})
	}
}

// Decided is the data of a decision entry.
type Decided struct {
	Call     tool.CallID   `json:"call"`
	Tool     string        `json:"tool"`
	Needs    []tool.Need   `json:"needs"`
	Decision tool.Decision `json:"decision"`
}

// listen has hooks told of the session and its calls.
func (s *Session) listen() {
	c := s.config
	s.hooks = &hooks{tell: c.Hooks, session: c.ID, agent: c.Start.Agent, started: func() bool { return s.started }, ran: s.ranHook, note: s.Note, around: s.windows.around, store: s.store}
	s.runner.Before, s.runner.After = s.hooks.before, s.hooks.after
}

// beginning is what is stored before the first entry of a session: a hook may have run before the
// first prompt.
func (s *Session) beginning() []Entry {
	if s.started {
		return nil
	}
	s.started = true
	return []Entry{s.entry(StartEntry, s.config.Start)}
}

// ranHook stores what a hook did and shows what it changed. A failure to store is not lost: the
// next entry fails, too.
func (s *Session) ranHook(r HookRun) {
	r.Agent = s.config.Start.Agent
	var entries []Entry
	if !(Moment{Event: r.Event}).Beside() { // that never runs before the first prompt
		entries = s.beginning()
	}
	_ = s.store(context.Background(), append(entries, s.entry(HookEntry, r))...)
	for _, text := range []string{r.told(), r.Notice} {
		if text != "" {
			s.emit(Notice{Text: text})
		}
	}
}

// keepLast keeps an answer that is not the last one of its turn after all.
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

// Caller is a program that has the model's place: what it calls is stored as its answers.
type Caller struct{ Provider, Name string }

// mostBeside is how many calls of programs run beside each other.
const mostBeside = 64

// callers are the programs whose calls run now.
type callers struct {
	sync.Mutex                     // held while the session is changed
	room       *semaphore.Weighted // whole for a call that runs alone; who came first is first
}

// Call runs one call of a program that has the model's place, as a turn of its own, through the
// same pipeline as the model's. Calls that only read or use the network run beside each other, any
// other alone, in the order in which they came. Its id is new to this session. It is for any
// goroutine, but not beside Prompt or Run; the conversation in memory does not grow by it. With an
// error the log could not be written, and the outcome says whether the call ran.
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
	if s.callers.room.Acquire(t.ctx, weight) == nil { // else ctx has ended, and so the call does
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

// admit stores what a program asks and calls, in one commit, before anything of it runs.
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

// mostAsked bounds, in bytes, what the prompt in the log shows of a program's arguments.
const mostAsked = 200
