package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/tool"
)

// Resume loads a session's log and makes it whole. With the same model it sends the same system
// prompt, so that the provider's cache still fits. A call without an outcome gets exactly one,
// stored before anything else happens, and is not run again.
func Resume(ctx context.Context, c Config) (*Session, error) {
	if err := c.Store.Lock(ctx, c.ID); err != nil {
		return nil, err
	}
	log, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	if c.Found != nil {
		if err := c.Found(log.found); err != nil {
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
	s.earlier, s.ran = log.earlier, log.ran
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
	if len(log.past.open.requests) == 0 {
		s.claims, s.evidence = log.past.claims, log.past.evidence
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
	intent        *tool.Record // if nil, it had not begun
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
	entries  int
	read     []Message        // of user and model, as far as entries were taken
	partial  *Message         // an answer of which fragments came; if nil, none
	skim     *skim            // while only little of the entries counts; if nil, all does
	lasting  []lastingOutcome // outcomes of what was skimmed
	found    []Entry          // for Config.Found
	undone   bool             // an undo is among them that no prompt followed
	reports  bool             // one of a subagent is, or a subagent
	called   int              // the highest number of a message for which a call was skimmed
	history  []Message
	summed   []Message                    // of user and model, in the place of which a summary stands
	earlier  []Message                    // the same with their outcomes
	ran      map[tool.CallID]tool.Outcome // of the user's own commands
	messages int
	orphans  []orphan
	mended   []string // messages whose pictures a server refused
	past     past
	failed   map[string][]Result // ends of turns that did not come to theirs, by the last message before
	mode     string              // the permission mode that was chosen last

	outcomes map[callKey]*tool.Outcome
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

func newLog(c *Config) *log {
	l := &log{ran: map[tool.CallID]tool.Outcome{}, outcomes: map[callKey]*tool.Outcome{}, intents: map[callKey]*tool.Record{}, agents: map[callKey]ID{}, running: map[callKey]State{}}
	l.past.price = func(r pastRequest) cost {
		if r.free {
			return cost{}
		}
		return c.costOf(r.provider, r.name, r.usage)
	}
	return l
}

// take adds the next entry, whose data may be used only in this call.
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

// whole takes an entry of which all counts.
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
		l.partial = nil // it was asked again: what was shown of it is void
		l.past.note(e)
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
		l.past.note(e)
	case MendedEntry:
		var m Mended
		err = json.Unmarshal(e.Data, &m)
		l.mended = append(l.mended, m.Messages...)
	case EndEntry:
		l.ended(e)
	case ModeEntry:
		l.mode = modeOf(e)
	case ImportEntry:
		l.mode = "" // whoever wrote that file chose it, not the user
	case IntentEntry, OutcomeEntry, ChangedEntry:
		err = l.call(e)
	}
	return err
}

// message takes one that is whole, in the place of what came of it.
func (l *log) message(m Message) {
	if l.partial != nil && l.partial.ID == m.ID {
		l.partial = nil
	}
	l.broken()
	l.read = append(l.read, m)
	l.past.message(m)
}

// ended counts a turn, and keeps how it ended behind the message that it ended with, where it did
// not come to its own end. A damaged entry says nothing, and the session goes on.
func (l *log) ended(e Entry) {
	var r Result
	if json.Unmarshal(e.Data, &r) != nil {
		return
	}
	l.past.ended(&r)
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

// broken keeps what is left of an answer that broke off with its process, if one did. Who went on
// from there has read it.
func (l *log) broken() {
	if l.partial == nil {
		return
	}
	for i := range l.partial.Parts {
		l.partial.Parts[i].close()
	}
	l.past.message(*l.partial)
	l.read, l.partial = append(l.read, *l.partial), nil
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
	l.outcomes[key] = &o.Outcome
	if o.Undo == nil || o.Undo.After != nil || o.Undo.By != "" {
		delete(l.running, key)
	}
	return err
}

// build puts the outcomes of each assistant message behind it, in the model's order.
func (l *log) build() {
	l.broken()
	messages := l.read
	for _, m := range slices.Concat(l.summed, messages) {
		if o, ok := l.outcomes[callKey{m.ID, m.Own}]; ok && m.Own != "" {
			l.ran[m.Own] = *o
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
	_, l.history = mended(l.history, l.mended)
	_, l.history = forgotten(l.history)
	l.messages = max(l.messages, lastNumber(l.history), l.called)
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
		r := l.intents[key]
		if _, ended := l.outcomes[key]; ended || known[key] || r == nil {
			continue
		}
		known[key] = true
		l.orphans = append(l.orphans, orphan{tool.RawCall{ID: r.Call, Name: r.Tool, Message: r.Message, Origin: r.Origin}, r, l.agents[key], -1, 0})
		l.messages = max(l.messages, lastNumber([]Message{{ID: r.Message}}))
	}
}

// outcomesOf is the message behind one with calls.
func (l *log) outcomesOf(m Message, calls []tool.RawCall) Message {
	answer := Message{ID: m.ID + "-outcomes", Role: ToolRole}
	for _, call := range calls {
		o := l.outcomes[callKey{m.ID, call.ID}]
		if o == nil {
			o = &tool.Outcome{} // close puts one in its place
		}
		answer.Parts = append(answer.Parts, Part{Kind: OutcomePart, Outcome: o})
	}
	return answer
}

// lastNumber finds the highest message number, so that new ids never repeat old ones.
func lastNumber(history []Message) int {
	highest := 0
	for _, m := range history {
		highest = max(highest, numberOf(m.ID))
	}
	return highest
}

// numberOf is the number in an id that nextID gave; of another one 0.
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
