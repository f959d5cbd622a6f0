package session

import (
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// One result may exceed the model's context. It is shortened in requests before the conversation is
// summarized or abandoned; the log keeps it whole, and a resumed session shortens it again.

// Shares of the conversation's room. After a refusal, a result above the first is shortened to the
// second; before a request, only a result too large for the window is.
const (
	largeShare = 2
	shortShare = 4
)

// room returns the tokens available to the conversation beside the fixed parts of requests. If the
// window is unknown, it is less than the size of the refused request.
func (l *ledger) room() int {
	if l.window <= 0 {
		return l.tokensSince(0) * 6 / 10
	}
	return max(l.window-l.tokens(l.fixedBytes)-min(freeTokens, l.window/freeShare), 0)
}

// shorter returns a copy of an outcomes message with large results cut, and notices for the user.
// The copy has its own id, since adapters cache encodings by id.
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

// shows reports whether a model sees the attachment as an image or document.
func shows(a tool.Attachment) bool {
	kind := attachedAs(a)
	return kind == "pictures" || kind == "documents"
}

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

// pictureMemory caches whether a conversation has images.
type pictureMemory struct {
	looked ReadMark
	is     bool
}

func (p *pictureMemory) any(messages []Message) bool {
	from := p.looked.Advance(messages)
	p.is = from > 0 && p.is
	for i := from; i < len(messages) && !p.is; i++ {
		p.is = pictures(&messages[i]) > 0
	}
	return p.is
}

// Shows reports whether the message has images or documents.
func (m Message) Shows() bool { return pictures(&m) > 0 }

// seenEnd is the id suffix of a message whose images were left out.
const seenEnd = "-seen"

// WithoutPictures returns a copy of a message with notes in place of its images and documents. The
// copy has its own id, as in shorter.
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
