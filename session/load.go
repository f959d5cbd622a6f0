package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"adze/tool"
)

// Resume loads a session's log and repairs it. With the same model it sends the same system prompt,
// so that the provider's cache still fits. A call without an outcome gets exactly one, stored
// first, and is not run again.
func Resume(ctx context.Context, c Config) (*Session, error) {
	if err := c.Store.Lock(ctx, c.ID); err != nil {
		return nil, err
	}
	log, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	if c.OnResume != nil {
		if err := c.OnResume(log.found); err != nil {
			return nil, err
		}
	}
	if c.Restorer != nil {
		if err := c.Restorer.Restore(log.completed()); err != nil {
			return nil, err
		}
	}
	if log.start.System != "" && log.start.Model == c.Start.Model {
		c.Start.System = log.start.System
	}
	s := New(c)
	s.earlier, s.ran = log.earlier, log.ownOutcomes
	if log.skim != nil {
		s.skimmed = log.entries
	}
	s.failed, s.mode = log.failed, log.mode
	s.restoreEffort(log.effort)
	s.plans.newest = log.plan
	s.history, s.messages, s.started = log.history, log.messages, log.start.Version != "" || log.entries > 0
	if log.offer != nil && c.Offer != nil {
		s.adopt(log.offer.Tools)
	}
	if err := s.close(ctx, log); err != nil {
		return s, err
	}
	s.remember(log)
	if len(log.earlierRequests.open.requests) == 0 {
		s.claims, s.evidence = log.earlierRequests.claims, log.earlierRequests.evidence
	}
	return s, nil
}

// LogError means a log cannot be read.
type LogError struct {
	ID    ID
	Cause error
}

// Error names the session and its entry.
func (e *LogError) Error() string { return fmt.Sprintf("session %s: %v", e.ID, e.Cause) }

// Unwrap returns the entry's error.
func (e *LogError) Unwrap() error { return e.Cause }

// orphan is a call without an outcome, and the outcome's place in the history.
type orphan struct {
	call          tool.RawCall
	intent        *tool.Record // nil if it had not begun
	agent         ID           // the subagent it started last
	message, part int          // message < 0: none, as the prompt or the user's message for the call was never stored
}

// outcome returns the certain facts about the call. Its record continues the intent's, to keep the
// decision.
func (o orphan) outcome(c Config) tool.Outcome {
	text := "aborted before it ran"
	record := tool.Record{
		Session: string(c.ID), Message: o.call.Message, Agent: c.Start.Agent, Call: o.call.ID, Tool: o.call.Name,
		Origin: cmp.Or(o.call.Origin, tool.Native), Args: json.RawMessage(`{}`), Start: c.Now(),
	}
	if o.intent != nil {
		text = "outcome unknown: adze ended while this ran; look before you run it again"
		record = *o.intent
	}
	if o.agent != "" {
		text += fmt.Sprintf("; it had started the subagent %s, whose log has what it came to", o.agent)
	}
	return record.Aborted(text)
}

// log is the state built from entries.
type log struct {
	start           Start
	offer           *Offer // the newest
	effort          string
	plan            *Plan
	entries         int
	read            []Message        // user and model messages so far
	partial         *Message         // an answer in fragments; may be nil
	skim            *skim            // nil once all entries count
	lasting         []lastingOutcome // skimmed calls' outcomes
	found           []Entry          // for Config.OnResume
	undone          bool             // includes an undo without a later prompt
	reports         bool             // includes a subagent or its report
	called          int              // highest message number with a skimmed call
	history         []Message
	summed          []Message                    // summarized user and model messages
	earlier         []Message                    // summarized messages with their outcomes
	ownOutcomes     map[tool.CallID]tool.Outcome // the user's own commands
	messages        int
	orphans         []orphan
	mended          []string // messages with refused images
	earlierRequests earlierRequests
	failed          map[string][]Result // abnormal turn ends by last message
	mode            string              // the last permission mode chosen

	outcomes map[callKey]*tool.Outcome
	intents  map[callKey]*tool.Record
	begun    []callKey // intents in order
	agents   map[callKey]ID
	running  map[callKey]State // states before calls that have not ended
}

// callKey identifies a call in a log: some servers reuse ids in every message.
type callKey struct {
	message string
	call    tool.CallID
}

func newLog(c *Config) *log {
	l := &log{ownOutcomes: map[tool.CallID]tool.Outcome{}, outcomes: map[callKey]*tool.Outcome{}, intents: map[callKey]*tool.Record{}, agents: map[callKey]ID{}, running: map[callKey]State{}}
	l.earlierRequests.price = func(r pastRequest) cost {
		if r.free {
			return cost{}
		}
		return c.costOf(r.provider, r.name, r.usage)
	}
	return l
}

// take adds the next entry. Its data is valid only during the call.
func (l *log) take(e Entry) error {
	l.entries++
	skimmed, err := l.skim.take(l, e)
	if err == nil && !skimmed {
		err = l.whole(e)
	}
	if err != nil && err != errSkim {
		err = fmt.Errorf("entry %d (%s) is damaged: %w", l.entries, e.Type, err)
	}
	return err
}

// whole handles an unskimmed entry.
func (l *log) whole(e Entry) (err error) {
	switch e.Type {
	case StartEntry:
		if l.start.Version == "" {
			err = json.Unmarshal(e.Data, &l.start)
		}
	case MessageEntry, NoteEntry:
		var m Message
		err = json.Unmarshal(e.Data, &m)
		l.message(m)
	case PartialEntry:
		l.partial = &Message{}
		err = json.Unmarshal(e.Data, l.partial)
	case FragmentEntry:
		var f Fragment
		err = json.Unmarshal(e.Data, &f)
		l.partial = f.add(l.partial)
	case RequestEntry:
		l.partial = nil // retried: its text is void
		l.earlierRequests.note(e)
	case RewindEntry:
		l.broken()
		l.read, err = l.rewind(l.read, e)
	case CompactEntry:
		l.broken()
		l.read, err = l.compact(l.read, e)
	case OfferEntry, EffortEntry:
		err = l.request(e)
	case SubagentEntry:
		var a Subagent
		err = json.Unmarshal(e.Data, &a)
		l.agents[callKey{a.Message, a.Call}] = a.Session
	case PlanEntry:
		err = l.planned(e)
	case PrefixEntry:
		l.earlierRequests.note(e)
	case MendedEntry:
		var m Mended
		err = json.Unmarshal(e.Data, &m)
		l.mended = append(l.mended, m.Messages...)
	case EndEntry:
		l.ended(e)
	case ModeEntry:
		l.mode = modeOf(e)
	case ImportEntry:
		l.mode = "" // chosen by the imported file's author, not by the user
	case IntentEntry, OutcomeEntry, ChangedEntry:
		err = l.call(e)
	}
	return err
}

// message replaces a message's fragments by the complete message.
func (l *log) message(m Message) {
	if l.partial != nil && l.partial.ID == m.ID {
		l.partial = nil
	}
	l.broken()
	l.read = append(l.read, m)
	l.earlierRequests.message(m)
}

// ended counts a turn, and records an abnormal end by the turn's last message. It ignores a damaged
// entry.
func (l *log) ended(e Entry) {
	var r Result
	if json.Unmarshal(e.Data, &r) != nil {
		return
	}
	l.earlierRequests.ended(&r)
	if r.Cause == CauseDone || r.Cause == "" {
		return
	}
	last := l.skim.last()
	if len(l.read) > 0 {
		last = l.read[len(l.read)-1].ID
	}
	if l.partial != nil {
		last = l.partial.ID
	}
	if l.failed == nil {
		l.failed = map[string][]Result{}
	}
	l.failed[last] = append(l.failed[last], r)
}

// broken keeps an answer that broke off when its process died: whoever continued the session has
// read it.
func (l *log) broken() {
	if l.partial == nil {
		return
	}
	for i := range l.partial.Parts {
		l.partial.Parts[i].close()
	}
	l.earlierRequests.message(*l.partial)
	l.read, l.partial = append(l.read, *l.partial), nil
}

// request handles an entry that applies to the requests after it.
func (l *log) request(e Entry) (err error) {
	if e.Type == EffortEntry {
		l.effort, err = effortOf(e)
		return err
	}
	l.offer = nil
	return json.Unmarshal(e.Data, &l.offer)
}

func (l *log) call(e Entry) error {
	if e.Type == IntentEntry {
		var r Intended
		err := json.Unmarshal(e.Data, &r)
		key := callKey{r.Message, r.Call}
		l.intents[key], l.begun = &r.Record, append(l.begun, key)
		if r.Undo != nil {
			l.running[key] = *r.Undo
		}
		return err
	}
	if e.Type == ChangedEntry {
		var w Window
		err := json.Unmarshal(e.Data, &w)
		delete(l.running, callKey{w.Message, w.Call})
		return err
	}
	var o Ended
	err := json.Unmarshal(e.Data, &o)
	key := callKey{o.Record.Message, o.Call}
	l.outcomes[key] = &o.Outcome
	if o.Undo == nil || o.Undo.After != nil || o.Undo.Author != "" {
		delete(l.running, key)
	}
	return err
}

// build places outcomes after each assistant message, in the model's order.
func (l *log) build() {
	l.broken()
	own := func(m Message) {
		if o, ok := l.outcomes[callKey{m.ID, m.OwnCall}]; ok && m.OwnCall != "" {
			l.ownOutcomes[m.OwnCall] = *o
		}
	}
	for _, m := range l.summed {
		own(m)
		l.earlier = append(l.earlier, m)
		if calls := m.Calls(); len(calls) > 0 {
			l.earlier = append(l.earlier, l.outcomesOf(m, calls))
		}
	}
	l.history = make([]Message, 0, len(l.read)+len(l.outcomes))
	for _, m := range l.read {
		own(m)
		l.history = append(l.history, m)
		calls := m.Calls()
		l.messages += 1 + min(1, len(calls)) // the outcomes have a number, too
		if len(calls) == 0 {
			continue
		}
		for i, call := range calls {
			key := callKey{m.ID, call.ID}
			if _, ok := l.outcomes[key]; !ok {
				call.Message = m.ID
				l.orphans = append(l.orphans, orphan{call, l.intents[key], l.agents[key], len(l.history), i})
			}
		}
		l.history = append(l.history, l.outcomesOf(m, calls))
	}
	_, l.history = mended(l.history, l.mended)
	_, l.history = forgotten(l.history)
	l.messages = max(l.messages, lastNumber(l.history), l.called)
	for call := range l.outcomes { // an abandoned prompt had a number too, kept by its calls
		l.messages = max(l.messages, lastNumber([]Message{{ID: call.message}}))
	}
	l.stray()
}

// stray finds calls whose message was never stored: for an unfinished prompt, or the user's own
// command.
func (l *log) stray() {
	known := map[callKey]bool{}
	for _, o := range l.orphans {
		known[callKey{o.call.Message, o.call.ID}] = true
	}
	for _, key := range l.begun {
		r := l.intents[key]
		if _, ended := l.outcomes[key]; ended || known[key] || r == nil {
			continue
		}
		known[key] = true
		l.orphans = append(l.orphans, orphan{tool.RawCall{ID: r.Call, Name: r.Tool, Message: r.Message, Origin: r.Origin}, r, l.agents[key], -1, 0})
		l.messages = max(l.messages, lastNumber([]Message{{ID: r.Message}}))
	}
}

// outcomesOf returns the tool message for a message with calls.
func (l *log) outcomesOf(m Message, calls []tool.RawCall) Message {
	answer := Message{ID: m.ID + "-outcomes", Role: ToolRole}
	for _, call := range calls {
		o := l.outcomes[callKey{m.ID, call.ID}]
		if o == nil {
			o = &tool.Outcome{} // close replaces it
		}
		answer.Parts = append(answer.Parts, Part{Kind: OutcomePart, Outcome: o})
	}
	return answer
}

// lastNumber returns the highest message number, so that new ids never repeat old ones.
func lastNumber(history []Message) int {
	highest := 0
	for _, m := range history {
		highest = max(highest, numberOf(m.ID))
	}
	return highest
}

// numberOf returns the number in a nextID id, else 0.
func numberOf(id string) int {
	digits, ok := strings.CutPrefix(id, "m")
	end := 0
	for ok && end < len(digits) && digits[end]-'0' <= 9 {
		end++
	}
	n, err := strconv.Atoi(digits[:end])
	if err != nil {
		return 0
	}
	return n
}
