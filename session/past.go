package session

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"adze/tool"
)

// past is what a log tells of the requests that were made: what the ledger and the prefix guard of
// a resumed session go on from.
type past struct {
	last     Message // the newest answer; it may have been taken back
	summed   bool    // the conversation was compacted after it
	rewound  string  // the message that was taken back after it; if empty, none
	counted  *Usage  // of the newest request that the provider counted
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
	if m.Prompt != "" {
		p.last, p.rewound, p.summed = m, "", false
	}
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

// remember goes on from a log: what was used, the provider's counts, and the last request.
func (s *Session) remember(l *log) {
	s.ledger.account.used, s.ledger.account.all = l.past.account.used, l.past.account.all
	s.ledger.account.turn(l.past.open, l.past.price)
	s.ledger.last, s.ledger.changes = l.past.counted, l.past.changes
	s.recount()
	if l.past.counted == nil {
		l.past.after = 0 // it was a mere estimate
	}
	s.ledger.calibrate(s.history, l.past.begun, l.past.after)
	s.recallRequest(l)
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

// recallRequest puts the last request together again, for the prefix guard.
func (s *Session) recallRequest(l *log) {
	p := &l.past
	if p.last.ID == "" {
		return
	}
	at := slices.IndexFunc(s.history, func(m Message) bool { return m.Role == Assistant && m.ID == p.last.ID })
	last := sentRequest{system: s.config.Start.System, digest: s.digest, tools: s.shown()}
	known := at >= 0 && !p.summed
	if known {
		last = s.identify(l, s.history[:at])
	}
	hidden := known && last.vague && s.hides(s.history[:at])
	if hidden {
		last = sentRequest{system: s.config.Start.System, digest: s.digest, tools: s.shown()}
	}
	if !known || hidden { // messages were taken back or summed up: only what stands before them can be compared
		at, last.cut = len(s.history), true
		s.prints.of(Request{Messages: s.history})
		cause := "the conversation was summed up"
		switch {
		case hidden:
			cause = "secrets were masked when the conversation was stored"
		case p.rewound != "":
			cause = "message " + p.rewound + " was taken back"
		}
		s.prefix.foreseen = append(s.prefix.foreseen, foreseen{cause: cause})
	}
	last.provider, last.model = p.last.Provider, p.last.Model
	last.tokens = s.ledger.tokens(s.ledger.bytes()) - s.ledger.since(at)
	s.prefix.last = &last
}

// hides reports whether something that was sent is masked in the log.
func (s *Session) hides(messages []Message) bool {
	return s.config.Mark != "" && slices.ContainsFunc(messages, func(m Message) bool {
		return slices.ContainsFunc(m.Parts, func(p Part) bool {
			return strings.Contains(p.Text, s.config.Mark) || p.Call != nil && strings.Contains(p.Call.Arguments, s.config.Mark) ||
				p.Outcome != nil && strings.Contains(p.Outcome.Output, s.config.Mark)
		})
	})
}

// identify finds out with which system prompt and tools a request was made that had these messages:
// the hash in the log says which of those that are known.
func (s *Session) identify(l *log, messages []Message) sentRequest {
	systems := []string{s.config.Start.System, l.start.System}
	tools := []sentRequest{{digest: s.digest, tools: s.shown()}, {digest: l.start.Tools, unnamed: true}}
	if l.offer != nil {
		chosen, digest := s.choose(l.offer.Tools)
		tools = append(tools, sentRequest{digest: digest, tools: chosen})
	}
	for _, system := range systems {
		for _, t := range tools {
			r := Request{System: system, ToolsDigest: t.digest, Messages: messages}
			if s.prints.of(r) == l.past.last.Prompt {
				t.system = system
				return t
			}
		}
	}
	return sentRequest{vague: true}
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
