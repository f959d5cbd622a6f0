package stream

import (
	"io"

	"adze/internal/text/redact"
	"adze/session"
)

func (p *Printer) mask() *redact.Masker {
	if p.Mask == nil {
		return &redact.Masker{}
	}
	return p.Mask()
}

// stderr is where a user reads what happens, without secrets.
func (p *Printer) stderr() io.Writer { return Masked{p.Err, p.mask()} }

// Masked hides the secrets of what is written to To, a whole line or more at once.
type Masked struct {
	To io.Writer
	By *redact.Masker
}

// Write writes p masked; the count is that of p.
func (w Masked) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.To, w.By.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// messageText is the text of one message that still arrives. What is written cannot be taken back,
// so the end of a piece waits where it may be the beginning of a secret.
type messageText struct {
	kind, message string // of the line
	text          *redact.Stream
}

// stream writes the line of an event.
func (p *Printer) stream(e session.Event) {
	switch e := e.(type) {
	case session.TextDelta:
		p.delta("text", e.Message, e.Delta)
		return
	case session.ReasoningDelta:
		p.delta("reasoning", e.Message, e.Delta)
		return
	case session.MessageDone:
		if p.arriving.message == e.Message.ID {
			p.endStreams()
		}
		if m := e.Message; p.Prompts && m.Role == session.User && m.Own == "" && !m.Note && len(m.Notes) == 0 {
			p.event(messageLine{"message", m})
			return
		}
	case session.Retry:
		if p.arriving.message == e.Message {
			p.arriving = messageText{} // what came of it is void
		}
	case session.Unsaved:
		p.line(lineOf(e)) // that, a script must read now
		p.pause(!e.Over())
		return
	}
	p.event(lineOf(e))
}

// event writes the line of an event, or keeps it while what it tells of cannot be saved: a script
// that has read of something finds it in the log.
func (p *Printer) event(l any) {
	if p.unsaved && l != nil {
		p.later = append(p.later, l)
		return
	}
	p.line(l)
}

// pause begins or ends a time in which nothing is saved. What that is told with is written at once.
func (p *Printer) pause(unsaved bool) {
	p.unsaved = unsaved
	if unsaved {
		return
	}
	for _, l := range p.later {
		p.line(l)
	}
	p.later = nil
}

func (p *Printer) delta(kind, message, piece string) {
	if p.arriving.kind != kind || p.arriving.message != message {
		p.endStreams()
		p.arriving = messageText{kind, message, p.mask().Stream()}
	}
	if ready := p.arriving.text.Write(piece); ready != "" {
		p.event(deltaLine{kind, message, ready})
	}
}

// endStreams writes what still waits.
func (p *Printer) endStreams() {
	now := p.arriving
	p.arriving = messageText{}
	if now.text == nil {
		return
	}
	if rest := now.text.End(); rest != "" {
		p.event(deltaLine{now.kind, now.message, rest})
	}
}
