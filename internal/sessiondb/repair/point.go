package repair

import (
	"encoding/json"
	"fmt"
	"slices"

	"adze/session"
)

// point has an entry that names a lost message name the next one that is there.
func (m *mender) point(r placed) session.Entry {
	e := r.Entry
	if e.Type == session.RewindEntry {
		var back session.Rewound
		_ = json.Unmarshal(e.Data, &back) // it was read before
		if to, moved := m.next(back.To); moved && to != "" {
			m.pointed(r, back.To, to)
			return written(e.Type, e, session.Rewound{To: to})
		}
		return e
	}
	var c session.Compaction
	_ = json.Unmarshal(e.Data, &c) // it was read before
	kept, moved := m.next(c.Kept)
	if moved {
		m.pointed(r, c.Kept, kept)
		c.Kept = kept
		e = written(e.Type, e, c)
	}
	m.compacted(c)
	return e
}

// compacted takes what a summary puts in the place of messages.
func (m *mender) compacted(c session.Compaction) {
	m.message(c.Summary)
	if c.Notes != nil {
		m.message(*c.Notes)
	}
}

func (m *mender) pointed(r placed, from, to string) {
	m.find(Finding{Kind: Pointed, Seq: r.Seq, Type: r.Entry.Type, Text: fmt.Sprintf("it names %.40[2]q now: the message %.40[1]q is lost", from, to)})
}

// next is the first message from one on; moved: it is not that one.
func (m *mender) next(id string) (to string, moved bool) {
	want, ok := number(id)
	if id == "" || m.said[id] || !ok || !m.damaged {
		return id, false
	}
	at := slices.IndexFunc(m.messages, func(have string) bool { n, ok := number(have); return ok && n >= want })
	if at < 0 {
		return "", true
	}
	return m.messages[at], true
}

// number is that of a message's id, as sessions count them.
func number(id string) (n int, ok bool) {
	_, err := fmt.Sscanf(id, "m%d", &n)
	return n, err == nil
}
