package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"adze/tool"
)

// ErrCallAborted ends one call that the user aborted; the turn continues.
var ErrCallAborted = errors.New("the person aborted this call; do not run it again, go on without it or ask")

// ErrNothingSaid is returned by Rewind if there is no prompt.
var ErrNothingSaid = errors.New("there is no message to take back")

// control holds the state for a user's actions during a turn, from any goroutine.
type control struct {
	mu      sync.Mutex
	open    bool     // a turn runs and will check again
	unread  []string // unread messages
	notes   []Note   // pending notes, kept across turns
	running map[tool.CallID]context.CancelCauseFunc
	effort  string
	budget  *Budget // of the current or last turn
	clock   *clock  // of the same turn
}

// Steer sends the running turn a message for its next request, or returns false if no turn runs. A
// message unread at the turn's end is dropped; its sender sees no MessageDone for it.
func (s *Session) Steer(text string) bool {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	if s.control.open {
		s.control.unread = append(s.control.unread, text)
	}
	return s.control.open
}

// CancelCall aborts one running call, or returns false if it does not run.
func (s *Session) CancelCall(id tool.CallID) bool {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	cancel, ok := s.control.running[id]
	if ok {
		cancel(ErrCallAborted)
	}
	return ok
}

// Budget returns the budget of the current or last turn; nil before the first.
func (s *Session) Budget() *Budget {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	return s.control.budget
}

// exec runs one call so that CancelCall can end it.
func (s *Session) exec(ctx context.Context, h tool.Hydration) tool.Outcome {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := &s.control
	b.mu.Lock()
	if b.running == nil {
		b.running = map[tool.CallID]context.CancelCauseFunc{}
	}
	b.running[h.Call] = cancel
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.running, h.Call)
	}()
	return s.windows.after(ctx, s.runner.Exec(ctx, h))
}

func (b *control) listen(open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.unread = open, nil
}

// heard takes the user's unread messages.
func (b *control) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	said := b.unread
	b.unread = nil
	return said
}

// hear stores the user's messages since the last request.
func (s *Session) hear(t *turn) error {
	said := s.control.heard()
	if len(said) > 0 {
		t.guard.Forget()
	}
	return s.say(t, false, said...)
}

// remark sends the model adze's own text with the next request. It comes last, to preserve the
// provider's cache.
func (s *Session) remark(t *turn, text string) error { return s.say(t, true, text) }

// say adds messages to the conversation that start no turn. A note is not from the user.
func (s *Session) say(t *turn, note bool, texts ...string) error {
	for _, text := range texts {
		m := Message{ID: s.nextID(), Role: User, Note: note, Meanwhile: !note, Parts: []Part{{Kind: TextPart, Text: text}}}
		if names := namesOf(s.offeredTools()); note && len(names) > 0 && strings.Contains(text, strings.Join(names, ", ")) {
			m.Parts[0].Tools = names
		}
		if err := s.store(t.ctx, s.entry(MessageEntry, m)); err != nil {
			return err
		}
		s.keep(m)
	}
	return nil
}

// over reports whether the turn ends with its answer. A message of the user or a correction
// continues it.
func (s *Session) over(t *turn) (bool, error) {
	more, note := s.control.heard(), false
	if len(more) == 0 && t.silences.latest {
		text, err := t.silences.answer(s.offeredTools())
		if err != nil {
			if t.silences.doubt == "" {
				t.result.Text = "" // the turn has no final answer then
			}
			return true, err
		}
		more, note = []string{text}, true
	}
	if len(more) == 0 && s.late(t.ctx) {
		return false, s.keepLast(t)
	}
	if t.ctx.Err() != nil && s.config.Await != nil {
		return true, context.Cause(t.ctx)
	}
	if len(more) == 0 && s.config.Accept != nil {
		correction, err := s.config.Accept(t.result.Text, t.tries)
		if err != nil || correction == "" {
			return true, err
		}
		t.tries++
		more, note = []string{correction}, true
	}
	if len(more) == 0 {
		hold := cmp.Or(s.hooks.held(t), t.claims(s))
		if hold == "" {
			return true, nil
		}
		more, note = []string{hold}, true
	}
	if err := s.keepLast(t); err != nil {
		return true, err
	}
	return false, s.say(t, note, more...)
}

// Run runs one call of the user's own through the same pipeline as the model's. The next request
// includes the text that say returns for its outcome. The last event is TurnEnd with the returned
// result.
func (s *Session) Run(ctx context.Context, call tool.RawCall, say func(tool.Outcome) string) Result {
	t, cancel := s.begin(ctx)
	defer cancel()
	m := Message{ID: s.nextID(), Role: User}
	call.ID, call.Message = tool.CallID(ownCall+m.ID), m.ID
	m.OwnCall = call.ID
	if !s.started {
		if err := s.store(ctx, s.entry(StartEntry, s.config.Start)); err != nil {
			return s.end(t, err)
		}
		s.started = true
	}
	o := s.exec(t.ctx, s.runner.Hydrate(t.ctx, s.config.Tools, []tool.RawCall{call})[0])
	m.Parts = []Part{{Kind: TextPart, Text: say(o)}}
	if err := s.store(ctx, s.entry(MessageEntry, m)); err != nil {
		return s.end(t, err)
	}
	s.history = append(s.history, m)
	if err := s.settleCall(t, call, o); err != nil {
		return s.end(t, err)
	}
	s.emitLedger("")
	if err := t.ctx.Err(); err != nil {
		return s.end(t, context.Cause(t.ctx))
	}
	return s.end(t, nil)
}

// prefix of the ids of the user's own calls
const ownCall = "person-"

// OwnCall reports whether Run made the call.
func OwnCall(id tool.CallID) bool { return strings.HasPrefix(string(id), ownCall) }

// Rewind removes the last prompt and all after it from the conversation, and returns its text. The
// log keeps them and gets a rewind entry. File changes stay. It must not be called during a turn.
func (s *Session) Rewind(ctx context.Context) (string, error) {
	at := -1
	for i, m := range s.history {
		if prompted(m) {
			at = i
		}
	}
	if at < 0 {
		return "", ErrNothingSaid
	}
	m := s.history[at]
	if err := s.store(ctx, s.entry(RewindEntry, Rewound{MessageID: m.ID})); err != nil {
		return "", err
	}
	s.foresee(at, "message "+m.ID+" was taken back")
	s.history = slices.Clip(s.history[:at])
	s.emitLedger("")
	return m.Text(), nil
}

// Plan returns the newest plan, or nil.
func (s *Session) Plan() *Plan {
	s.plans.mu.Lock()
	defer s.plans.mu.Unlock()
	return s.plans.newest
}

// SetPlan stores a plan's new state. Any goroutine may call it.
func (s *Session) SetPlan(ctx context.Context, p Plan) error {
	if err := s.store(ctx, s.entry(PlanEntry, p)); err != nil {
		return err
	}
	s.plans.set(p)
	s.emit(Planned{p})
	return nil
}

// Rewound is a rewind entry's data, which removes this message and all after it.
type Rewound struct {
	MessageID string `json:"to"` // message id
}

// rewind applies a rewind entry. The numbers of removed messages are not reused, so that ids stay
// unique.
func (l *log) rewind(messages []Message, e Entry) ([]Message, error) {
	var r Rewound
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return messages, err
	}
	at := slices.IndexFunc(messages, func(m Message) bool { return m.ID == r.MessageID })
	if at < 0 {
		return messages, nil
	}
	l.messages = max(l.messages, lastNumber(messages)+1) // the last message's outcomes had their own number
	return messages[:at], nil
}

// warn reminds a model that repeats itself before its next request. The reminder survives
// compaction.
func (s *Session) warn(t *turn) {
	if text := t.guard.Warning(); text != "" {
		s.Note(Note{Kind: LoopNote, Source: "adze", KeepInCompaction: true, Text: text})
	}
}

// Effort returns the reasoning effort, or "" for the provider's setting.
func (s *Session) Effort() string {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	return s.control.effort
}

// SetEffort changes the effort from the next request on. Any goroutine may call it.
func (s *Session) SetEffort(word string) {
	if word == DefaultEffort {
		word = ""
	}
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	s.control.effort = word
}

// keepEffort stores a changed effort before the request that uses it.
func (s *Session) keepEffort(t *turn) error {
	now := s.Effort()
	if now == s.effort {
		return nil
	}
	if err := s.store(t.ctx, s.entry(EffortEntry, Thinks{now})); err != nil {
		return err
	}
	s.effort = now
	return nil
}

// restoreEffort restores the log's effort, unless this run chose another one.
func (s *Session) restoreEffort(stored string) {
	s.effort = stored
	s.SetEffort(cmp.Or(s.config.Effort, stored))
}

func effortOf(e Entry) (string, error) {
	var t Thinks
	err := json.Unmarshal(e.Data, &t)
	return t.Effort, err
}
