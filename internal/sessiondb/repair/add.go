package repair

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/sessiondb"
	"adze/session"
	"adze/tool"
)

// What a mended log has that the damaged one had not.

// start has the new log say where it comes from. A subagent's stays one.
func (m *mender) start(e session.Entry) session.Entry {
	var s session.Start
	if json.Unmarshal(e.Data, &s) != nil || m.started {
		return e
	}
	m.started = true
	if s.Agent == "" {
		s.Parent = m.id
	}
	return written(session.StartEntry, e, s)
}

// systemKept is from how many characters on what the list has of a system prompt may be cut.
const systemKept = 256

// begin makes the start that was lost.
func (m *mender) begin(like session.Entry) {
	s := m.known
	if len([]rune(s.System)) >= systemKept {
		s.System = ""
	}
	s.Version = cmp.Or(s.Version, "unknown")
	if s.Agent == "" {
		s.Parent = m.id
	}
	m.started = true
	m.out = append(m.out, written(session.StartEntry, like, s))
	if m.damaged {
		m.find(Finding{Kind: Began, Text: "the start of the session is lost; folder and model are those that the list knows"})
	}
}

// own reports a call that no answer asked for: one of the user's, or of a command's.
func own(id tool.CallID) bool {
	return strings.HasPrefix(string(id), "person-") || strings.HasPrefix(string(id), "command-")
}

// rebuild makes the answer that asked for calls of what is left of it.
func (m *mender) rebuild(r placed, id string) {
	m.between(id)
	t := m.traces[id]
	s := session.Message{ID: id, Role: session.Assistant, Stop: session.StopCalls, Provider: t.first.Provider, Model: t.first.Model}
	for i := range maxPart + 1 {
		if p, ok := t.parts[i]; ok {
			s.Parts = append(s.Parts, p)
		}
	}
	for _, c := range t.calls {
		s.Parts = append(s.Parts, session.Part{Kind: session.CallPart, Call: &c})
	}
	m.out = append(m.out, written(session.MessageEntry, r.Entry, s))
	m.message(s)
	m.between("")
	m.find(Finding{Kind: Rebuilt, Text: fmt.Sprintf("the answer %.40q is lost; its %d calls are kept, with the arguments that may be logged", id, len(t.calls))})
}

// tell puts a note for the model where something is gone.
func (m *mender) tell() {
	if m.lost == 0 {
		return
	}
	n := 1
	for m.said[fmt.Sprintf("mended-%d", n)] {
		n++
	}
	text := fmt.Sprintf("The log of this conversation was damaged: %d of its entries are missing here. What was said or done in them is not known; look before you rely on it.", m.lost)
	s := session.Message{ID: fmt.Sprintf("mended-%d", n), Role: session.User, Note: true, Parts: []session.Part{{Kind: session.TextPart, Text: text}}}
	m.out = append(m.out, written(session.NoteEntry, m.last, s))
	m.message(s)
	m.lost = 0
}

// finish closes what is open: the end that is missing, calls without an outcome.
func (m *mender) finish(log sessiondb.RawLog) {
	if n := len(m.rows); n > 0 && (m.at > log.Entries || m.at == log.Entries && !bytes.Equal(m.rows[n-1].hash, log.Tip)) && m.rows[n-1].proof != altered {
		m.find(Finding{Kind: Ended, Seq: m.at, Text: "it is not the one that was noted as the last"})
	}
	m.gap(log.Entries)
	if !m.started && m.damaged {
		m.begin(m.last)
	}
	for _, key := range m.open {
		if !m.ended[key] {
			m.settle(key)
		}
	}
	m.tell()
}

// settle gives a call the outcome that it has not.
func (m *mender) settle(key call) {
	c := m.asked[key]
	text := "aborted before it ran"
	record := tool.Record{Session: string(m.id), Message: key.message, Call: key.id, Tool: c.Name, Origin: cmp.Or(c.Origin, tool.Native), Args: json.RawMessage(`{}`), Start: m.last.Time}
	if r := m.begun[key]; r != nil {
		record, text = *r, "outcome unknown: adze ended while this ran; look before you run it again"
	}
	if m.doubtful[key] {
		text = "outcome unknown: the log was damaged here; look before you run it again"
	}
	m.out = append(m.out, written(session.OutcomeEntry, m.last, record.Aborted(text)))
	what, _, _ := strings.Cut(text, ";")
	m.find(Finding{Kind: Unknown, Text: fmt.Sprintf("the call %.40q of %s has no outcome; it has one now: %s", key.id, c.Name, what)})
}
