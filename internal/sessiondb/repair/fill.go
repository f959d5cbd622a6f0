package repair

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"adze/internal/sessiondb"
	"adze/session"
	"adze/tool"
)

// call names a call in a log: some servers use the same ids again in every message.
type call struct {
	message string
	id      tool.CallID
}

func callOf(r *tool.Record) call { return call{r.Message, r.Call} }

// trace is what tells of a message without being it.
type trace struct {
	first session.Fragment
	parts map[int]session.Part
	calls []tool.RawCall
}

// mender goes through the rows in their order and writes the new log.
type mender struct {
	id     session.ID
	known  session.Start // of the start, from elsewhere
	rows   []placed
	report Report
	out    []session.Entry

	at       int64 // of the last row
	last     session.Entry
	lost     int             // entries that are gone since the model was told of it
	damaged  bool            // something is gone
	started  bool            // there is a start
	arrives  string          // the message that fragments came of
	messages []string        // ids, in their order
	said     map[string]bool // the same
	traces   map[string]*trace
	open     []call // calls in their order
	begun    map[call]*tool.Record
	asked    map[call]tool.RawCall
	ended    map[call]bool
	doubtful map[call]bool // something was lost after it was asked for
}

func newMender(log sessiondb.RawLog) *mender {
	m := &mender{id: log.ID, rows: order(log), said: map[string]bool{}, traces: map[string]*trace{}, begun: map[call]*tool.Record{},
		asked: map[call]tool.RawCall{}, ended: map[call]bool{}, doubtful: map[call]bool{}}
	m.report.Session = log.ID
	for _, r := range m.rows {
		if c, err := read(r.Entry); err == nil && r.proof != altered {
			m.trace(c)
		}
	}
	return m
}

// trace remembers what an entry tells of a message that may be lost.
func (m *mender) trace(c content) {
	of := func(message string) *trace {
		if m.traces[message] == nil {
			m.traces[message] = &trace{parts: map[int]session.Part{}}
		}
		return m.traces[message]
	}
	switch {
	case c.fragment != nil:
		f := *c.fragment
		t := of(f.Message)
		if len(t.parts) == 0 {
			t.first = f
		}
		p := t.parts[f.Part]
		t.parts[f.Part] = session.Part{Kind: f.Kind, Text: p.Text + f.Text, Opaque: f.Opaque}
	case c.failed != "":
		delete(m.traces, c.failed) // it was asked again
	case c.record != nil:
		t, r := of(c.record.Message), c.record
		if !slices.ContainsFunc(t.calls, func(c tool.RawCall) bool { return c.ID == r.Call }) {
			t.calls = append(t.calls, tool.RawCall{ID: r.Call, Name: cmp.Or(r.Alias, r.Tool), Arguments: object(r.Args), Message: r.Message, Origin: r.Origin})
		}
	}
}

// object is arguments as a provider takes them.
func object(args json.RawMessage) string {
	var o map[string]json.RawMessage
	if json.Unmarshal(args, &o) != nil || o == nil {
		return "{}"
	}
	return string(args)
}

// find notes a finding; of neighbours with the same the first one tells.
func (m *mender) find(f Finding) {
	if all := m.report.Findings; len(all) > 0 && (f.Kind == Moved || f.Kind == Unproven || f.Kind == Dropped) {
		if last := &all[len(all)-1]; last.Kind == f.Kind && last.Text == f.Text && max(last.Seq, last.Last)+1 == f.Seq {
			last.Last, last.Type = f.Seq, ""
			return
		}
	}
	m.report.Findings = append(m.report.Findings, f)
}

// row takes the next row.
func (m *mender) row(r placed) {
	m.gap(r.at - 1)
	m.at = max(m.at, r.at)
	c, err := read(r.Entry)
	switch {
	case r.proof == altered:
		m.drop(r, "it is not as it was written: changed, or put there")
	case err != nil:
		m.drop(r, "it cannot be read: "+err.Error())
	case c.ended && m.ended[callOf(c.record)]:
		m.drop(r, fmt.Sprintf("it is a second outcome of the call %.40q", c.record.Call))
	case c.message != nil && r.Entry.Type != session.PartialEntry && m.said[c.message.ID]:
		m.drop(r, fmt.Sprintf("it is the message %.40q a second time", c.message.ID))
	default:
		m.judged(r)
		m.take(r, c)
	}
}

// judged tells what is special about a row that is kept.
func (m *mender) judged(r placed) {
	m.report.Kept++
	if r.Lost > 0 {
		m.find(Finding{Kind: Textless, Seq: r.Seq, Type: r.Entry.Type, Text: "it is kept without a large text that is missing or was changed"})
	}
	f := Finding{Seq: r.Seq, Type: r.Entry.Type}
	switch {
	case r.proof == unproven:
		f.Kind, f.Text = Unproven, "it is kept, and cannot be proven: what it is chained to is gone"
	case r.at != r.Seq:
		f.Kind, f.Text = Moved, moved(r.at-r.Seq)
	case string(r.hash) != string(r.Hash):
		f.Kind, f.Text = Chained, "it is kept: only its hash was damaged"
	default:
		return
	}
	m.find(f)
}

func moved(by int64) string {
	if by < 0 {
		return fmt.Sprintf("it belongs %d places before", -by)
	}
	return fmt.Sprintf("it belongs %d places behind", by)
}

// gap notes that everything up to a number is missing that did not come.
func (m *mender) gap(until int64) {
	if until <= m.at {
		return
	}
	text := "it is missing"
	if until > m.at+1 {
		text = "they are missing"
	}
	m.find(Finding{Kind: Missing, Seq: m.at + 1, Last: until, Text: text})
	m.miss(int(until - m.at))
	m.at = until
}

func (m *mender) drop(r placed, why string) {
	m.find(Finding{Kind: Dropped, Seq: r.Seq, Type: r.Entry.Type, Text: why})
	m.miss(1)
}

func (m *mender) miss(n int) {
	m.lost += n
	m.damaged = true
	for _, c := range m.open {
		m.doubtful[c] = true
	}
}

// take keeps an entry.
func (m *mender) take(r placed, c content) {
	e := r.Entry
	m.last = e
	if !m.started && e.Type != session.StartEntry {
		m.begin(e)
	}
	switch {
	case e.Type == session.StartEntry:
		e = m.start(e)
	case e.Type == session.RewindEntry || e.Type == session.CompactEntry:
		m.between("")
		e = m.point(r)
	case c.fragment != nil:
		m.between(c.fragment.Message)
	case e.Type == session.PartialEntry:
		m.between(c.message.ID)
	case c.message != nil:
		m.between(c.message.ID)
		m.message(*c.message)
		defer m.between("")
	case c.failed != "":
		m.arrives = ""
	case c.record != nil:
		m.call(r, c)
	}
	m.out = append(m.out, e)
}

// between is called before what belongs to a message: a note about what is gone may stand here, but
// not between the fragments of a message, and not between them and the whole.
func (m *mender) between(message string) {
	if message == "" || message != m.arrives {
		m.tell()
	}
	m.arrives = message
}

// message remembers what was said, and which calls it asks for.
func (m *mender) message(s session.Message) {
	m.said[s.ID] = true
	m.messages = append(m.messages, s.ID)
	for _, c := range s.Calls() {
		m.ask(call{s.ID, c.ID}, c)
	}
}

func (m *mender) ask(key call, c tool.RawCall) {
	if _, known := m.asked[key]; !known {
		m.open = append(m.open, key)
		m.asked[key] = c
	}
}

// call takes an intent or an outcome. When the answer that asked for it is lost, that is rebuilt
// before.
func (m *mender) call(r placed, c content) {
	key := callOf(c.record)
	if !m.said[key.message] && m.damaged && key.message != "" && !own(key.id) {
		m.rebuild(r, key.message)
	}
	m.ask(key, tool.RawCall{ID: key.id, Name: c.record.Tool, Message: key.message, Origin: c.record.Origin})
	if c.ended {
		m.ended[key] = true
		return
	}
	m.begun[key] = c.record
}
