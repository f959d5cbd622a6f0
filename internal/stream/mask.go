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

// stderr returns standard error with secrets masked.
func (p *Printer) stderr() io.Writer { return Masked{p.Err, p.mask()} }

// Masked masks secrets in output to Writer. Each Write must have one or more whole lines.
type Masked struct {
	Writer io.Writer
	Masker *redact.Masker
}

// Write writes p masked and returns p's length.
func (w Masked) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, w.Masker.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// messageText is a message's text while it arrives. Written text cannot be taken back, so the end
// of a piece waits if it may begin a secret.
type messageText struct {
	kind, message string // for the line
	text          *redact.Stream
}

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
		if m := e.Message; p.Prompts && m.Role == session.User && m.OwnCall == "" && !m.Note && len(m.Notes) == 0 {
			p.event(messageLine{"message", m})
			return
		}
	case session.Retry:
		if p.arriving.message == e.Message {
			p.arriving = messageText{} // the partial text is void
		}
	case session.Unsaved:
		p.line(lineOf(e)) // a script must get this at once
		p.pause(!e.AllSaved())
		return
	}
	p.event(lineOf(e))
}

// event writes an event's line, or delays it while the log cannot be stored: a script finds every
// event that it has read in the log.
func (p *Printer) event(l any) {
	if p.unsaved && l != nil {
		p.later = append(p.later, l)
		return
	}
	p.line(l)
}

// pause begins or ends a time without storage. Its own line is written at once.
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

// endStreams writes the delayed text.
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
