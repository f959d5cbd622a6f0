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

// ErrCallAborted ends one call that the user aborted; the turn goes on.
var ErrCallAborted = errors.New("the person aborted this call; do not run it again, go on without it or ask")

// ErrNothingSaid is returned by Rewind when there is no prompt to take back.
var ErrNothingSaid = errors.New("there is no message to take back")

// beside is what a user can do while a turn runs, from any goroutine.
type beside struct {
	mu      sync.Mutex
	open    bool     // a turn runs that will look again
	said    []string // not read yet
	notes   []Note   // not told yet; they outlive a turn
	running map[tool.CallID]context.CancelCauseFunc
	effort  string
	budget  *Budget // of the turn that runs, or ran last
	clock   *clock  // the same
}

// Steer hands the running turn a message, which the model reads with the next request. False: no
// turn runs. What a turn did not read before its end is dropped; its sender sees that no
// MessageDone came for it.
func (s *Session) Steer(text string) bool {
	s.beside.mu.Lock()
	defer s.beside.mu.Unlock()
	if s.beside.open {
		s.beside.said = append(s.beside.said, text)
	}
	return s.beside.open
}

// CancelCall aborts one running call. False: it does not run.
func (s *Session) CancelCall(id tool.CallID) bool {
	s.beside.mu.Lock()
	defer s.beside.mu.Unlock()
	cancel, ok := s.beside.running[id]
	if ok {
		cancel(ErrCallAborted)
	}
	return ok
}

// Budget is that of the running turn, or of the last one; nil before the first.
func (s *Session) Budget() *Budget {
	s.beside.mu.Lock()
	defer s.beside.mu.Unlock()
	return s.beside.budget
}

// exec runs one call so that CancelCall can end it.
func (s *Session) exec(ctx context.Context, h tool.Hydration) tool.Outcome {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := &s.beside
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

// listen opens or closes the turn for Steer.
func (b *beside) listen(open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.said = open, nil
}

// heard takes what the user said meanwhile.
func (b *beside) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	said := b.said
	b.said = nil
	return said
}

// hear stores what the user said since the last request.
func (s *Session) hear(t *turn) error {
	said := s.beside.heard()
	if len(said) > 0 {
		t.guard.Forget()
	}
	return s.say(t, false, said...)
}

// remark tells the model something of adze's own, with the next request. It comes after all that
// was said, so that the provider's cache keeps what is before it.
func (s *Session) remark(t *turn, text string) error { return s.say(t, true, text) }

// say adds messages to the conversation that are no prompt of their own; a note is not the user's.
func (s *Session) say(t *turn, note bool, texts ...string) error {
	for _, text := range texts {
		m := Message{ID: s.nextID(), Role: User, Note: note, Meanwhile: !note, Parts: []Part{{Kind: TextPart, Text: text}}}
		if names := namesOf(s.shown()); note && len(names) > 0 && strings.Contains(text, strings.Join(names, ", ")) {
			m.Parts[0].Tools = names
		}
		if err := s.store(t.ctx, s.entry(MessageEntry, m)); err != nil {
			return err
		}
		s.keep(m)
	}
	return nil
}

// over reports whether the turn ends with what was answered. What the user said meanwhile, or a
// correction of the answer, keeps it going.
func (s *Session) over(t *turn) (bool, error) {
	more, note := s.beside.heard(), false
	if len(more) == 0 && t.silences.now {
		text, err := t.silences.answer(s.shown())
		if err != nil {
			if t.silences.doubt == "" {
				t.result.Text = "" // no answer of the turn is its result then
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

// Run runs one call of the user's own, through the same pipeline as the model's. The model reads
// what say makes of its outcome with the next request. The last event is TurnEnd with the result
// returned.
func (s *Session) Run(ctx context.Context, call tool.RawCall, say func(tool.Outcome) string) Result {
	t, cancel := s.begin(ctx)
	defer cancel()
	m := Message{ID: s.nextID(), Role: User}
	call.ID, call.Message = tool.CallID(ownCall+m.ID), m.ID
	m.Own = call.ID
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
	s.tell("")
	if err := t.ctx.Err(); err != nil {
		return s.end(t, context.Cause(t.ctx))
	}
	return s.end(t, nil)
}

// ownCall begins the id of a call of the user's own.
const ownCall = "person-"

// OwnCall reports a call of the user's own, which Run made.
func OwnCall(id tool.CallID) bool { return strings.HasPrefix(string(id), ownCall) }

// Rewind takes the last prompt and all that came after it out of the conversation, and returns its
// text. The log keeps them: a rewind is an entry of its own. What calls did to files stays done. It
// is not for use while a turn runs.
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
	if err := s.store(ctx, s.entry(RewindEntry, Rewound{To: m.ID})); err != nil {
		return "", err
	}
	s.foresee(at, "message "+m.ID+" was taken back")
	s.history = slices.Clip(s.history[:at])
	s.tell("")
	return m.Text(), nil
}

// Plan is the newest plan; if nil, there is none.
func (s *Session) Plan() *Plan {
	s.plans.mu.Lock()
	defer s.plans.mu.Unlock()
	return s.plans.newest
}

// SetPlan stores what came of a plan. It is for any goroutine.
func (s *Session) SetPlan(ctx context.Context, p Plan) error {
	if err := s.store(ctx, s.entry(PlanEntry, p)); err != nil {
		return err
	}
	s.plans.set(p)
	s.emit(Planned{p})
	return nil
}

// Rewound is the data of a rewind entry: the conversation goes on as if nothing had been said from
// this message on.
type Rewound struct {
	To string `json:"to"` // a message's id
}

// rewind obeys a rewind entry. The numbers of dropped messages are not given out again: ids stay
// unique.
func (l *log) rewind(messages []Message, e Entry) ([]Message, error) {
	var r Rewound
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return messages, err
	}
	at := slices.IndexFunc(messages, func(m Message) bool { return m.ID == r.To })
	if at < 0 {
		return messages, nil
	}
	l.messages = max(l.messages, lastNumber(messages)+1) // the last one's outcomes had a number of their own
	return messages[:at], nil
}

// warn tells a model that repeats itself, before its next request. What it is told outlasts a
// summary.
func (s *Session) warn(t *turn) {
	if text := t.guard.Warning(); text != "" {
		s.Note(Note{Kind: LoopNote, From: "adze", Lasts: true, Text: text})
	}
}

// Effort is how hard the model is asked to think; if empty, as its provider is configured.
func (s *Session) Effort() string {
	s.beside.mu.Lock()
	defer s.beside.mu.Unlock()
	return s.beside.effort
}

// SetEffort changes it for the next request, and for the session when that is made. It is for any
// goroutine.
func (s *Session) SetEffort(word string) {
	if word == DefaultEffort {
		word = ""
	}
	s.beside.mu.Lock()
	defer s.beside.mu.Unlock()
	s.beside.effort = word
}

// keepEffort stores a changed effort before the request that is made with it.
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

// restoreEffort goes on with the effort of the log, unless another one was chosen for this run.
func (s *Session) restoreEffort(stored string) {
	s.effort = stored
	s.SetEffort(cmp.Or(s.config.Effort, stored))
}

func effortOf(e Entry) (string, error) {
	var t Thinks
	err := json.Unmarshal(e.Data, &t)
	return t.Effort, err
}
