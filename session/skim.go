package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"adze/internal/text/jsontext"
	"adze/tool"
)

// Of a compacted log only the part after the newest summary is sent. The part before is skimmed for
// usage, open calls, and outcomes that outlast a summary. A caller that shows the conversation
// reads the log again in full.

// Reader is a Store that streams a log, so that a long one is not held in memory.
//   - Stream calls each with all entries, oldest first, and returns its first error;
//   - Back calls each with the entries of some types, newest first, until it returns false;
//   - an entry's data is valid only during the call, which must not use the store.
type Reader interface {
	Stream(ctx context.Context, id ID, each func(Entry) error) error
	Back(ctx context.Context, id ID, types []EntryType, each func(Entry) (more bool)) error
}

// Restorer receives outcomes of earlier runs that outlast a summary.
//   - Restores reports whether it needs the summarized outcomes of a tool;
//   - Restore gets these and all completed outcomes after the summary, oldest first.
type Restorer interface {
	Restores(tool string) bool
	Restore(outcomes iter.Seq[tool.Outcome]) error
}

// Stream calls each with all entries of a session, as a Reader does.
func Stream(ctx context.Context, s Store, id ID, each func(Entry) error) error {
	if r, ok := s.(Reader); ok {
		return r.Stream(ctx, id, each)
	}
	log, err := s.Load(ctx, id)
	for i := 0; i < len(log) && err == nil; i++ {
		err = each(log[i])
	}
	return err
}

// Back calls each with the entries of some types, newest first, as a Reader does.
func Back(ctx context.Context, s Store, id ID, types []EntryType, each func(Entry) (more bool)) error {
	if r, ok := s.(Reader); ok {
		return r.Back(ctx, id, types, each)
	}
	log, err := s.Load(ctx, id)
	for _, e := range slices.Backward(log) {
		if slices.Contains(types, e.Type) && !each(e) {
			break
		}
	}
	return err
}

func (c *Config) read(ctx context.Context) (*log, error) {
	summary, err := c.newestSummary(ctx)
	if err != nil {
		return nil, err
	}
	l, err := c.readSkimming(ctx, summary)
	if errors.Is(err, errSkim) {
		l, err = c.readSkimming(ctx, nil)
	}
	return l, err
}

// errSkim means that the newest summary is invalid, so that the log must be read in full.
var errSkim = errors.New("the newest summary names a message that is not there")

func (c *Config) readSkimming(ctx context.Context, summary *Compaction) (*log, error) {
	l := newLog(c)
	if summary != nil {
		l.skim = &skim{compaction: *summary, restorer: c.Restorer, outcomes: map[string][]lastingOutcome{}, openIntents: map[callKey]Entry{}}
	}
	damaged := false
	err := Stream(ctx, c.Store, c.ID, func(e Entry) error {
		l.find(e)
		err := l.take(e)
		damaged = err != nil && err != errSkim
		return err
	})
	switch {
	case damaged:
		return nil, &LogError{c.ID, err}
	case err != nil:
		return nil, err
	}
	l.build()
	return l, nil
}

// newestSummary returns the compaction in effect, or nil.
func (c *Config) newestSummary(ctx context.Context) (newest *Compaction, err error) {
	err = Back(ctx, c.Store, c.ID, []EntryType{CompactEntry}, func(e Entry) bool {
		var found Compaction
		if json.Unmarshal(e.Data, &found) == nil && found.Summary.ID != "" {
			newest = &found
		}
		return false
	})
	return newest, err
}

// skim is the state of reading up to the first message kept by the newest summary. nil and the zero
// value skim nothing.
type skim struct {
	compaction  Compaction
	restorer    Restorer
	ids         []string                    // of the messages
	first       int                         // index in ids: earlier ones were summarized before
	outcomes    map[string][]lastingOutcome // by message
	ended       bool                        // only ids and first are still set
	highest     int                         // highest message number
	openIntents map[callKey]Entry           // intents without an outcome so far
	order       []callKey                   // of begun
}

// lastingOutcome is an outcome that outlasts the summary of its message.
type lastingOutcome struct {
	call     tool.CallID
	tool     string
	metadata json.RawMessage
}

func (s *skim) last() string {
	if s == nil || s.ended || len(s.ids) == s.first {
		return ""
	}
	return s.ids[len(s.ids)-1]
}

// take handles an entry, and reports whether it was skimmed.
func (s *skim) take(l *log, e Entry) (skimmed bool, err error) {
	if s == nil {
		return false, nil
	}
	if s.ended {
		return s.behind(l, e)
	}
	switch e.Type {
	case MessageEntry, NoteEntry:
		return s.message(l, e)
	case OutcomeEntry:
		return s.outcome(l, e)
	case IntentEntry:
		return s.intent(e)
	case ChangedEntry:
		return false, s.changed(l, e)
	case RewindEntry:
		l.broken()
		s.kept(l)
		return true, s.rewind(l, e)
	case CompactEntry:
		l.broken()
		s.kept(l)
		return s.compact(l, e)
	}
	return false, nil
}

// Field names in entries and their positions in the values.
var (
	messageFields = []string{"id", "role", "provider", "model", "usage"}
	outcomeFields = []string{"call", "tool", "status", "metadata", "record", "undo"}
	intentFields  = []string{"message", "call"}
	promptFields  = []string{"role", "note"}
)

func (s *skim) message(l *log, e Entry) (skimmed bool, err error) {
	var v [5][]byte
	m := Message{Role: User}
	if !jsontext.Fields(e.Data, messageFields, v[:]) {
		return false, json.Unmarshal(e.Data, &m) // returns the decoder's error
	}
	if err := texts(v[:2], &m.ID, (*string)(&m.Role)); err != nil {
		return false, err
	}
	if m.ID == s.compaction.FirstKept {
		s.end(l)
		return false, nil
	}
	if m.Role == Assistant {
		if err := texts(v[2:4], &m.Provider, &m.Model); err != nil {
			return false, err
		}
		if v[4] != nil {
			err = json.Unmarshal(v[4], &m.Usage)
		}
	}
	l.message(m)
	s.kept(l)
	return true, err
}

func (s *skim) kept(l *log) {
	for _, m := range l.read {
		s.ids = append(s.ids, m.ID)
		s.highest = max(s.highest, numberOf(m.ID))
	}
	l.read = l.read[:0]
}

// texts decodes strings; a missing one is empty.
func texts(values [][]byte, into ...*string) error {
	for i, raw := range values {
		if text, ok := jsontext.Plain(raw); ok {
			*into[i] = text
		} else if raw != nil {
			if err := json.Unmarshal(raw, into[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// outcome closes an open intent and keeps a lasting outcome.
func (s *skim) outcome(l *log, e Entry) (skimmed bool, err error) {
	var v [6][]byte
	var of [2][]byte
	var key callKey
	var name, status string
	if !jsontext.Fields(e.Data, outcomeFields, v[:]) || !jsontext.Fields(v[4], intentFields[:1], of[:1]) ||
		texts([][]byte{v[0], v[1], v[2], of[0]}, (*string)(&key.call), &name, &status, &key.message) != nil {
		return false, nil // left to the full decoder
	}
	l.called = max(l.called, numberOf(key.message))
	begun, open := s.openIntents[key]
	delete(s.openIntents, key)
	_, waits := l.running[key]
	if v[5] != nil && open || waits { // its changes may still be open
		if open {
			err = l.call(begun)
		}
		if err = errors.Join(err, l.call(e)); err != nil {
			return true, err
		}
		delete(l.outcomes, key)
	}
	delete(l.intents, key)
	if tool.Status(status) == tool.Completed && s.restorer != nil && s.restorer.Restores(name) {
		s.outcomes[key.message] = append(s.outcomes[key.message], lastingOutcome{key.call, name, bytes.Clone(v[3])})
	}
	return true, nil
}

// intent keeps a raw intent until its outcome comes.
func (s *skim) intent(e Entry) (skimmed bool, err error) {
	var v [2][]byte
	var key callKey
	if !jsontext.Fields(e.Data, intentFields, v[:]) || texts(v[:], &key.message, (*string)(&key.call)) != nil {
		return false, nil
	}
	e.Data = bytes.Clone(e.Data)
	s.openIntents[key], s.order = e, append(s.order, key)
	return true, nil
}

// changed decodes the intent of a call whose changes ended before it.
func (s *skim) changed(l *log, e Entry) error {
	var w Window
	if err := json.Unmarshal(e.Data, &w); err != nil {
		return err
	}
	key := callKey{w.Message, w.Call}
	begun, open := s.openIntents[key]
	if !open {
		return nil
	}
	delete(s.openIntents, key)
	return l.call(begun)
}

func (s *skim) rewind(l *log, e Entry) error {
	var r Rewound
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	at := slices.Index(s.ids[s.first:], r.MessageID)
	if at < 0 {
		return nil
	}
	s.number(l)
	for _, id := range s.ids[s.first+at:] {
		delete(s.outcomes, id)
	}
	s.ids = s.ids[:s.first+at]
	return nil
}

// compact handles an earlier summary, or ends skimming at the newest one if it kept no message.
func (s *skim) compact(l *log, e Entry) (skimmed bool, err error) {
	var c Compaction
	if err := json.Unmarshal(e.Data, &c); err != nil {
		return true, err
	}
	if c.Summary.ID == s.compaction.Summary.ID {
		if c.FirstKept != "" {
			return true, errSkim
		}
		s.end(l)
		return false, nil
	}
	s.shorten(l, c)
	return true, nil
}

func (s *skim) shorten(l *log, c Compaction) {
	at := len(s.ids)
	if c.FirstKept != "" {
		if at = slices.Index(s.ids[s.first:], c.FirstKept); at < 0 {
			return
		}
		at += s.first
	}
	s.number(l)
	l.earlierRequests.request(c.Provider, c.Model, c.Usage)
	s.ids, s.first = slices.Insert(s.ids, at, c.Summary.ID), at
	s.highest = max(s.highest, numberOf(c.Summary.ID))
	if c.Notes != nil {
		s.ids = slices.Insert(s.ids, at+1, c.Notes.ID)
		s.highest = max(s.highest, numberOf(c.Notes.ID))
	}
}

// behind handles a later entry about messages before it, which were skimmed or read.
func (s *skim) behind(l *log, e Entry) (skimmed bool, err error) {
	read := func(id string) bool {
		l.broken()
		return slices.ContainsFunc(l.read, func(m Message) bool { return m.ID == id })
	}
	switch e.Type {
	case RewindEntry:
		var r Rewound
		switch {
		case json.Unmarshal(e.Data, &r) != nil:
		case read(r.MessageID):
			s.number(l)
		case slices.Contains(s.ids[s.first:], r.MessageID):
			return true, errSkim
		}
	case CompactEntry:
		var c Compaction
		switch {
		case json.Unmarshal(e.Data, &c) != nil:
		case c.FirstKept == "" || read(c.FirstKept):
			s.number(l)
			s.ids = s.ids[:s.first] // summarized
		case c.Summary.ID == s.compaction.Summary.ID:
			return true, errSkim
		default:
			s.highest = max(s.highest, lastNumber(l.read))
			s.shorten(l, c)
			return true, nil
		}
	}
	return false, nil
}

// number makes new message numbers follow the skimmed ones.
func (s *skim) number(l *log) { l.messages = max(l.messages, s.highest+1) }

// end hands over open intents and lasting outcomes.
func (s *skim) end(l *log) {
	l.broken()
	s.kept(l)
	s.number(l)
	for _, key := range s.order {
		if e, open := s.openIntents[key]; open {
			_ = l.call(e) // damage was reported while skimming
		}
	}
	for _, id := range s.ids {
		l.lasting = append(l.lasting, s.outcomes[id]...)
	}
	*s = skim{compaction: s.compaction, ids: s.ids[s.first:], highest: s.highest, ended: true}
}

func (l *log) find(e Entry) {
	switch e.Type {
	case UndoEntry:
		l.undone = true
	case SubagentEntry, ReportEntry:
		l.reports = true
	case NoteEntry:
		if !l.reports {
			return
		}
	case MessageEntry:
		var v [2][]byte
		if !l.undone || !jsontext.Fields(e.Data, promptFields, v[:]) || string(v[0]) != `"user"` || v[1] != nil {
			return
		}
		l.undone = false
	default:
		return
	}
	e.Data = bytes.Clone(e.Data)
	l.found = append(l.found, e)
}

// readWhole reads the first entries of a partly skimmed log.
func (c *Config) readWhole(ctx context.Context, entries int) (*log, error) {
	l, errEnd := newLog(c), errors.New("all that was there")
	err := Stream(ctx, c.Store, c.ID, func(e Entry) error {
		if l.entries == entries {
			return errEnd
		}
		return l.take(e)
	})
	if err != nil && err != errEnd {
		return nil, err
	}
	l.build()
	return l, nil
}

// completed yields the valid outcomes: from the skimmed part only those for Restorer, with call,
// tool and metadata; then all from the rest.
func (l *log) completed() iter.Seq[tool.Outcome] {
	return func(yield func(tool.Outcome) bool) {
		for _, o := range l.lasting {
			if !yield(tool.Outcome{Call: o.call, Tool: o.tool, Status: tool.Completed, Metadata: o.metadata}) {
				return
			}
		}
		for _, m := range append(l.earlier[:len(l.earlier):len(l.earlier)], l.history...) {
			for _, p := range m.Parts {
				if p.Kind == OutcomePart && p.Outcome != nil && p.Outcome.Status == tool.Completed && !yield(*p.Outcome) {
					return
				}
			}
		}
	}
}
