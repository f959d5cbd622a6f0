package session

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"adze/tool"
)

// earlierRequests holds the log's record of earlier requests, from which a resumed session
// continues its ledger.
type earlierRequests struct {
	counted  *Usage // usage of the newest request with provider counts
	open     pastTurn
	price    func(pastRequest) cost
	account  account    // of the ended turns
	claims   []Claim    // of the last one
	evidence []Evidence // of the last one
	changes  []PrefixChange
	// begun is the number of messages left by the newest compaction, after their estimated size.
	begun, after int
}

// pastTurn holds a turn's requests and its end, or nil if the process died before.
type pastTurn struct {
	requests []pastRequest
	end      *Result
}

type pastRequest struct {
	provider, model string // model is provider/name
	name            string
	usage           Usage
	failed          bool
	free            bool // refused: costs nothing
}

func (p *earlierRequests) request(provider, model string, u *Usage) *pastRequest {
	r := pastRequest{provider: provider, name: model, model: provider + "/" + model}
	if u != nil {
		r.usage = *u
		if _, ok := u.InputTokens(); ok {
			p.counted = u
		}
	}
	p.open.requests = append(p.open.requests, r)
	return &p.open.requests[len(p.open.requests)-1]
}

func (p *earlierRequests) message(m Message) {
	if m.Role != Assistant {
		return
	}
	p.request(m.Provider, m.Model, m.Usage)
}

func (p *earlierRequests) ended(end *Result) {
	p.account.turn(pastTurn{p.open.requests, end}, p.price)
	p.open.requests, p.claims, p.evidence = p.open.requests[:0], end.Claims, end.Evidence
}

// note handles an entry that only affects counts. It ignores a damaged one.
func (p *earlierRequests) note(e Entry) {
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

// close stores synthetic outcomes of calls that the last process left open, and the file changes
// since.
func (s *Session) close(ctx context.Context, l *log) error {
	for _, o := range l.orphans {
		outcome := o.outcome(s.config)
		if o.intent == nil { // read for display only: nothing is repaired or run
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
	// The rest are background jobs that ended with their process.
	for _, key := range slices.SortedFunc(maps.Keys(l.running), func(a, b callKey) int { return cmp.Compare(l.running[a].Time, l.running[b].Time) }) {
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

// remember restores the usage and the provider's counts from a log.
func (s *Session) remember(l *log) {
	s.ledger.account.used, s.ledger.account.all = l.earlierRequests.account.used, l.earlierRequests.account.all
	s.ledger.account.turn(l.earlierRequests.open, l.earlierRequests.price)
	s.ledger.last, s.ledger.changes = l.earlierRequests.counted, l.earlierRequests.changes
	s.recount()
	if l.earlierRequests.counted == nil {
		l.earlierRequests.after = 0 // only an estimate
	}
	s.ledger.calibrate(s.history, l.earlierRequests.begun, l.earlierRequests.after)
}

// calibrate learns from the token counts in a conversation, assuming today's system prompt and
// tools. The begun messages that a compaction left have counts of a longer conversation; for them
// the correction follows from after, their estimate at that time.
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

// LastPromptID returns the id of the last prompt, which Rewind would remove, or "".
func (s *Session) LastPromptID() string {
	for _, m := range slices.Backward(s.history) {
		if prompted(m) {
			return m.ID
		}
	}
	return ""
}
