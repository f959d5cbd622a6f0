package session

import (
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// One result may be larger than all that a model takes. It is shortened in what is sent, before the
// conversation is summed up or given up; the log keeps it whole, and a run that goes on later
// shortens it again.

// Shares of the room that a conversation has: after a refusal, a result that takes more than the
// first is shortened to the second. Before a request, only one is that no window could hold.
const (
	largeShare = 2
	shortShare = 4
)

// room is how many tokens the conversation may have beside what every request holds. Of a window
// that nobody knows it is less than what was just refused.
func (l *ledger) room() int {
	if l.window <= 0 {
		return l.since(0) * 6 / 10
	}
	return max(l.window-l.tokens(l.fixedBytes)-min(freeTokens, l.window/freeShare), 0)
}

// shorter is a copy of outcomes with the large ones cut, and what the user is told. It has an id
// of its own: adapters keep what they encoded by the id.
func (l *ledger) shorter(m Message, tokens int) (Message, []string) {
	perToken := float64(bytesPerToken) / l.correction.factor(l.bytes())
	large := max(int(float64(tokens)*perToken), 2*cutOutput)
	most := max(int(float64(l.room()/shortShare)*perToken), cutOutput)
	out := m
	out.ID += "-cut"
	out.Parts = slices.Clone(m.Parts)
	var told []string
	for i, p := range m.Parts {
		if p.Outcome == nil || len(p.Outcome.Output) <= large {
			continue
		}
		o := *p.Outcome
		o.Output = shortened(o.Output, most) + "\n[this result was larger than you can take; ask for a part of it]"
		out.Parts[i].Outcome = &o
		told = append(told, fmt.Sprintf("the result of %s has %d bytes, more than the model takes: it gets %d of them, the log keeps all",
			o.Tool, len(p.Outcome.Output), len(o.Output)))
	}
	return out, told
}

// shows reports an attachment that a model looks at.
func shows(a tool.Attachment) bool {
	kind := attachedAs(a)
	return kind == "pictures" || kind == "documents"
}

// pictures counts what a message shows.
func pictures(m *Message) (n int) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Attachment != nil && shows(*p.Attachment) {
			n++
		}
		if p.Outcome == nil {
			continue
		}
		for _, a := range p.Outcome.Attachments {
			if shows(a) {
				n++
			}
		}
	}
	return n
}

// pictureMemory remembers whether a conversation shows anything.
type pictureMemory struct {
	looked Grown
	is     bool
}

// any reports a conversation with pictures.
func (p *pictureMemory) any(messages []Message) bool {
	from := p.looked.Since(messages)
	p.is = from > 0 && p.is
	for i := from; i < len(messages) && !p.is; i++ {
		p.is = pictures(&messages[i]) > 0
	}
	return p.is
}

// Shows reports a message with pictures or documents.
func (m Message) Shows() bool { return pictures(&m) > 0 }

// seenEnd is what the id of a message ends with whose pictures were left out.
const seenEnd = "-seen"

// WithoutPictures is a copy of a message with notes for what it shows. It has an id of its own, as
// shorter's has.
func (m Message) WithoutPictures(words string) Message {
	note := func(a tool.Attachment) string { return fmt.Sprintf(words, a.Name) }
	m.ID = strings.TrimSuffix(m.ID, seenEnd) + seenEnd
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		if p.Attachment != nil && shows(*p.Attachment) {
			m.Parts[i] = Part{Kind: TextPart, Text: note(*p.Attachment)}
		}
		if p.Outcome == nil || len(p.Outcome.Attachments) == 0 {
			continue
		}
		o := *p.Outcome
		o.Attachments = nil
		for _, a := range p.Outcome.Attachments {
			if shows(a) {
				o.Output += "\n" + note(a)
			} else {
				o.Attachments = append(o.Attachments, a)
			}
		}
		m.Parts[i].Outcome = &o
	}
	return m
}
