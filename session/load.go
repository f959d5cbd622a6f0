package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"adze/tool"
)

// Resume loads a session's log and makes it whole. With the same model it sends the same system
// prompt, so that the provider's cache still fits. A call without an outcome gets exactly one,
// stored before anything else happens, and is not run again.
func Resume(ctx context.Context, c Config) (*Session, error) {
	if err := c.Store.Lock(ctx, c.ID); err != nil {
		return nil, err
	}
	entries, err := c.Store.Load(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	log, err := replay(entries)
	if err != nil {
		return nil, &LogError{c.ID, err}
	}
	if c.Found != nil {
		if err := c.Found(entries); err != nil {
			return nil, err
		}
	}
	if log.start.System != "" && log.start.Model == c.Start.Model {
		c.Start.System = log.start.System
	}
	s := New(c)
	s.earlier, s.ran = log.earlier, log.ran
	s.failed, s.mode = log.failed, log.mode
	s.restoreEffort(log.effort)
	s.plans.newest = log.plan
	s.history, s.messages, s.started = log.history, log.messages, log.start.Version != "" || len(entries) > 0
	if log.offer != nil && c.Offer != nil {
		s.adopt(log.offer.Tools)
	}
	if err := s.close(ctx, log); err != nil {
		return s, err
	}
	s.remember(log)
	if n := len(log.past.turns); n > 0 && len(log.past.open.requests) == 0 {
		s.claims, s.evidence = log.past.turns[n-1].end.Claims, log.past.turns[n-1].end.Evidence
	}
	return s, nil
}

// LogError says that a log cannot be read.
type LogError struct {
	ID    ID
	Cause error
}

// Error names the session and its entry.
func (e *LogError) Error() string { return fmt.Sprintf("session %s: %v", e.ID, e.Cause) }

// Unwrap is what is wrong with the entry.
func (e *LogError) Unwrap() error { return e.Cause }

// orphan is a call without an outcome, and where its outcome belongs in the history.
type orphan struct {
	call          tool.RawCall
	intent        *tool.Record // nil: it had not begun
	agent         ID           // the subagent that it started last
	message, part int          // message < 0: in none, the prompt or the user's message that it was for was never stored
}

// outcome is what is certain about the call. Its record goes on from the intent, so that the
// decision on what may have happened is not lost.
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

// log is what a list of entries amounts to.
type log struct {
	start    Start
	offer    *Offer // the newest
	effort   string
	plan     *Plan
	history  []Message
	summed   []Message                    // of person and model, in the place of which a summary stands
	earlier  []Message                    // the same with their outcomes
	ran      map[tool.CallID]tool.Outcome // of the user's own commands
	messages int
	orphans  []orphan
	past     past
	failed   map[string][]Result // ends of turns that did not come to theirs, by the last message before
	mode     string              // the permission mode that was chosen last

	outcomes map[callKey]tool.Outcome
	intents  map[callKey]*tool.Record
	begun    []callKey // of the intents, in their order
	agents   map[callKey]ID
	running  map[callKey]State // before what had not ended
}

// callKey names a call in a log: some servers use the same ids again in every message.
type callKey struct {
	message string
	call    tool.CallID
}

func replay(entries []Entry) (*log, error) {
	l := &log{ran: map[tool.CallID]tool.Outcome{}, outcomes: map[callKey]tool.Outcome{}, intents: map[callKey]*tool.Record{}, agents: map[callKey]ID{}, running: map[callKey]State{}}
	var messages []Message
	var partial *Message
	for i, e := range entries {
		var m Message
		var err error
		switch e.Type {
		case StartEntry:
			if l.start.Version == "" {
				err = json.Unmarshal(e.Data, &l.start)
			}
		case MessageEntry, NoteEntry:
			err = json.Unmarshal(e.Data, &m)
			if partial != nil && partial.ID != m.ID {
				messages = l.broken(messages, partial)
			}
			partial = nil
			messages = append(messages, m)
			l.past.message(m)
		case PartialEntry:
			err = json.Unmarshal(e.Data, &m)
			partial = &m
		case FragmentEntry:
			var f Fragment
			err = json.Unmarshal(e.Data, &f)
			partial = f.add(partial)
		case RequestEntry:
			partial = nil // it was asked again: what was shown of it is void
			l.past.note(e)
		case RewindEntry:
			messages, err = l.rewind(l.broken(messages, partial), e)
			partial = nil
		case CompactEntry:
			messages, err = l.compact(l.broken(messages, partial), e)
			partial = nil
		case OfferEntry, EffortEntry:
			err = l.request(e)
		case SubagentEntry:
			var a Subagent
			err = json.Unmarshal(e.Data, &a)
			l.agents[callKey{a.Message, a.Call}] = a.Session
		case PlanEntry:
			err = l.planned(e)
		case PrefixEntry:
			l.past.note(e)
		case EndEntry:
			l.past.note(e)
			l.ended(e, messages, partial)
		case ModeEntry:
			l.mode = modeOf(e)
		case ImportEntry:
			l.mode = "" // whoever wrote that file chose it, not the user
		case IntentEntry, OutcomeEntry, ChangedEntry:
			err = l.call(e)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d (%s) is damaged: %w", i+1, e.Type, err)
		}
	}
	l.build(l.broken(messages, partial))
	return l, nil
}

// ended keeps how a turn ended that did not come to its own end, behind the message that it ended
// with. A damaged entry says nothing, and the session goes on.
func (l *log) ended(e Entry, messages []Message, partial *Message) {
	var r Result
	if json.Unmarshal(e.Data, &r) != nil || r.Cause == CauseDone || r.Cause == "" {
		return
	}
	last := ""
	if len(messages) > 0 {
		last = messages[len(messages)-1].ID
	}
	if partial != nil {
		last = partial.ID
	}
	if l.failed == nil {
		l.failed = map[string][]Result{}
	}
	l.failed[last] = append(l.failed[last], r)
}

// broken keeps what is left of an answer that broke off with its process; if nil, none did. Who
// went on from there has read it.
func (l *log) broken(messages []Message, partial *Message) []Message {
	if partial == nil {
		return messages
	}
	for i := range partial.Parts {
		partial.Parts[i].close()
	}
	l.past.message(*partial)
	return append(messages, *partial)
}

// request takes what holds for the requests from here on.
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
	l.outcomes[key] = o.Outcome
	if o.Undo == nil || o.Undo.After != nil || o.Undo.By != "" {
		delete(l.running, key)
	}
	return err
}

// build puts the outcomes of each assistant message behind it, in the model's order.
func (l *log) build(messages []Message) {
	for _, m := range slices.Concat(l.summed, messages) {
		if o, ok := l.outcomes[callKey{m.ID, m.Own}]; ok && m.Own != "" {
			l.ran[m.Own] = o
		}
	}
	for _, m := range l.summed {
		l.earlier = append(l.earlier, m)
		if calls := m.Calls(); len(calls) > 0 {
			l.earlier = append(l.earlier, l.outcomesOf(m, calls))
		}
	}
	for _, m := range messages {
		l.history = append(l.history, m)
		l.messages++
		calls := m.Calls()
		if len(calls) == 0 {
			continue
		}
		l.messages++
		for i, call := range calls {
			key := callKey{m.ID, call.ID}
			if _, ok := l.outcomes[key]; !ok {
				call.Message = m.ID
				l.orphans = append(l.orphans, orphan{call, l.intents[key], l.agents[key], len(l.history), i})
			}
		}
		l.history = append(l.history, l.outcomesOf(m, calls))
	}
	l.messages = max(l.messages, lastNumber(l.history))
	for call := range l.outcomes { // a prompt that was given up had a number too, which its calls keep
		l.messages = max(l.messages, lastNumber([]Message{{ID: call.message}}))
	}
	l.stray()
}

// stray finds the calls that had begun for a message that was never stored: a prompt that was being
// made, or what the user ran.
func (l *log) stray() {
	known := map[callKey]bool{}
	for _, o := range l.orphans {
		known[callKey{o.call.Message, o.call.ID}] = true
	}
	for _, key := range l.begun {
		if _, ended := l.outcomes[key]; ended || known[key] {
			continue
		}
		known[key] = true
		r := l.intents[key]
		l.orphans = append(l.orphans, orphan{tool.RawCall{ID: r.Call, Name: r.Tool, Message: r.Message, Origin: r.Origin}, r, l.agents[key], -1, 0})
		l.messages = max(l.messages, lastNumber([]Message{{ID: r.Message}}))
	}
}

// outcomesOf is the message behind one with calls.
func (l *log) outcomesOf(m Message, calls []tool.RawCall) Message {
	answer := Message{ID: m.ID + "-outcomes", Role: ToolRole}
	for _, call := range calls {
		o := l.outcomes[callKey{m.ID, call.ID}]
		answer.Parts = append(answer.Parts, Part{Kind: OutcomePart, Outcome: &o})
	}
	return answer
}

// lastNumber finds the highest message number, so that new ids never repeat old ones.
func lastNumber(history []Message) int {
	highest := 0
	for _, m := range slices.Backward(history) {
		var n int
		if _, err := fmt.Sscanf(m.ID, "m%d", &n); err == nil {
			highest = max(highest, n)
		}
	}
	return highest
}
