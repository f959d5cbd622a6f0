package session

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"adze/tool"
)

// past is what a log tells of the requests that were made, from which the ledger of a resumed
// session goes on.
type past struct {
	counted  *Usage // of the newest request that the provider counted
	open     pastTurn
	price    func(pastRequest) cost
	account  account    // of the turns that ended
	claims   []Claim    // of the last of them
	evidence []Evidence // the same
	changes  []PrefixChange
	// begun is how many messages the newest compaction left, and after what they were estimated at.
	begun, after int
}

// pastTurn is the requests of a turn, and its end; if nil, the process ended before.
type pastTurn struct {
	requests []pastRequest
	end      *Result
}

type pastRequest struct {
	provider, model string // model is provider/name
	name            string
	usage           Usage
	failed          bool
	free            bool // refused: nobody charges for it
}

func (p *past) request(provider, model string, u *Usage) *pastRequest {
	r := pastRequest{provider: provider, name: model, model: provider + "/" + model}
	if u != nil {
		r.usage = *u
		if _, ok := u.Sent(); ok {
			p.counted = u
		}
	}
	p.open.requests = append(p.open.requests, r)
	return &p.open.requests[len(p.open.requests)-1]
}

// message takes an answer; those of the user are no requests.
func (p *past) message(m Message) {
	if m.Role != Assistant {
		return
	}
	p.request(m.Provider, m.Model, m.Usage)
}

// ended takes the end of a turn.
func (p *past) ended(end *Result) {
	p.account.turn(pastTurn{p.open.requests, end}, p.price)
	p.open.requests, p.claims, p.evidence = p.open.requests[:0], end.Claims, end.Evidence
}

// note takes an entry that is for counting only: a damaged one counts nothing, and the session goes
// on.
func (p *past) note(e Entry) {
	switch e.Type {
	case PrefixEntry:
		var c PrefixChange
		if json.Unmarshal(e.Data, &c) == nil {
			p.changes = append(p.changes, c)
		}
	case RequestEntry:
		var f FailedRequest
		if json.Unmarshal(e.Data, &f) == nil {
			r := p.request(f.Provider, f.Model, f.Usage)
			r.failed, r.free = true, f.Usage == nil && f.Kind != ""
		}
	}
}

// close stores the synthetic outcomes of calls that the last process left open, and what became of
// files since.
func (s *Session) close(ctx context.Context, l *log) error {
	for _, o := range l.orphans {
		outcome := o.outcome(s.config)
		if o.intent == nil { // what it was about is read here alone: nothing is repaired, nothing runs
			outcome.Record.Args = new(tool.Runner).Hydrate(ctx, s.config.Tools, []tool.RawCall{o.call})[0].Exposed()
		}
		key := callKey{o.call.Message, o.call.ID}
		var before *State
		if state, ok := l.running[key]; ok {
			before = &state
		}
		delete(l.running, key)
		if err := s.store(ctx, s.entry(OutcomeEntry, Ended{outcome, s.windows.lost(ctx, before)})); err != nil {
			return err
		}
		if o.message < 0 {
			continue
		}
		s.history[o.message].Parts[o.part] = Part{Kind: OutcomePart, Outcome: &outcome}
	}
	// What is left are jobs that ended with their process.
	for _, key := range slices.SortedFunc(maps.Keys(l.running), func(a, b callKey) int { return cmp.Compare(l.running[a].At, l.running[b].At) }) {
		before := l.running[key]
		if w := s.windows.lost(ctx, &before); w != nil {
			w.Message, w.Call = key.message, key.call
			if err := s.store(ctx, s.entry(ChangedEntry, *w)); err != nil {
				return err
			}
		}
	}
	return nil
}

// remember goes on from a log: what was used, and the provider's counts.
func (s *Session) remember(l *log) {
	s.ledger.account.used, s.ledger.account.all = l.past.account.used, l.past.account.all
	s.ledger.account.turn(l.past.open, l.past.price)
	s.ledger.last, s.ledger.changes = l.past.counted, l.past.changes
	s.recount()
	if l.past.counted == nil {
		l.past.after = 0 // it was a mere estimate
	}
	s.ledger.calibrate(s.history, l.past.begun, l.past.after)
}

// calibrate learns from the counts of a conversation. What stood before the messages then is taken
// to be what stands there now. The begun messages that a compaction left have counts of a longer
// conversation; their estimate of that time, after, tells the correction.
func (l *ledger) calibrate(history []Message, begun, after int) {
	bytes := l.fixedBytes
	for i, m := range history {
		if i >= begun && m.Role == Assistant && m.Usage != nil && m.Provider == l.provider && m.Model == l.model {
			l.correction.learn(bytes, *m.Usage)
		}
		for _, s := range l.messages[i].shares {
			bytes += s.bytes
		}
		if i+1 == min(begun, len(history)) {
			l.correction.learn(bytes, Usage{Input: after})
		}
	}
}

// Said is the id of what the user said last, which Rewind would take back; if empty, nothing.
func (s *Session) Said() string {
	for _, m := range slices.Backward(s.history) {
		if prompted(m) {
			return m.ID
		}
	}
	return ""
}
