package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"adze/session"
	"adze/tool"
)

func digest(s []byte) string {
	sum := sha256.Sum256(s)
	return hex.EncodeToString(sum[:])
}

// sent returns the parts of messages that a model reads, masked.
func (m masker) sent(messages []session.Message) []SentMessage {
	out := make([]SentMessage, len(messages))
	for i, message := range messages {
		out[i].Role = message.Role
		for _, p := range message.Parts {
			out[i].Parts = append(out[i].Parts, m.sentPart(p))
		}
	}
	return out
}

func (m masker) sentPart(p session.Part) SentPart {
	switch {
	case p.Call != nil:
		return SentPart{Call: &FullCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: m.Text(p.Call.Arguments)}}
	case p.Outcome != nil:
		o := p.Outcome
		return SentPart{Outcome: &SentResult{o.Call, o.Tool, o.Status, m.Text(o.Output)}}
	case p.Attachment != nil:
		return SentPart{Attachment: digest(p.Attachment.Data)}
	case p.Kind == session.ReasoningPart:
		return SentPart{Reasoning: m.Text(p.Text)}
	}
	return SentPart{Text: m.Text(p.Text)}
}

// answerOf converts a chunk; hide masks the completed answer.
func (m masker) answerOf(c session.Chunk) Answer {
	switch c := c.(type) {
	case session.Text:
		return Answer{Text: &c.Delta}
	case session.Reasoning:
		return Answer{Reasoning: &Thought{c.Delta, m.Text(string(c.Opaque)), c.Earlier}}
	case session.Forming:
		return Answer{Forming: &FormingCall{c.ID, c.Name, c.Bytes}}
	case session.Call:
		return Answer{Call: &FullCall{c.ID, m.Text(c.Name), m.Text(c.Arguments), c.Origin, m.Text(string(c.Opaque))}}
	case session.Done:
		a := Answer{Done: &c.Usage, Stop: c.Stop, Notice: m.Text(c.Notice)}
		if c.Err != nil {
			a.Error = m.failureOf(c.Err)
		}
		return a
	}
	return Answer{}
}

// hide masks an answer's text. A model writes a secret in pieces, none of which looks like one.
func (m masker) hide(answer []Answer) {
	var text, thought strings.Builder
	var texts, thoughts []*string
	for _, a := range answer {
		switch {
		case a.Text != nil:
			text.WriteString(*a.Text)
			texts = append(texts, a.Text)
		case a.Reasoning != nil:
			thought.WriteString(a.Reasoning.Delta)
			thoughts = append(thoughts, &a.Reasoning.Delta)
		}
	}
	m.pieces(texts, text.String())
	m.pieces(thoughts, thought.String())
}

// failureOf records an error's text and whether the run would retry.
func (m masker) failureOf(err error) *Failure {
	var p *session.ProviderError
	switch {
	case errors.As(err, &p):
		return &Failure{Kind: p.Kind, Status: p.Status, Message: m.Text(p.Message), Hint: m.Text(p.Hint), Cut: p.Cut}
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return &Failure{Kind: session.ReplayError, Message: "the recorded run was stopped here"}
	}
	return &Failure{Kind: session.NetworkError, Message: m.Text(err.Error())}
}

func (a Answer) chunk() session.Chunk {
	switch {
	case a.Text != nil:
		return session.Text{Delta: *a.Text}
	case a.Reasoning != nil:
		return session.Reasoning{Delta: a.Reasoning.Delta, Opaque: opaque(a.Reasoning.Opaque), Earlier: a.Reasoning.Earlier}
	case a.Forming != nil:
		return session.Forming{ID: a.Forming.ID, Name: a.Forming.Name, Bytes: a.Forming.Bytes}
	case a.Call != nil:
		return session.Call{RawCall: tool.RawCall{
			ID: a.Call.ID, Name: a.Call.Name, Arguments: a.Call.Arguments, Origin: a.Call.Origin, Opaque: opaque(a.Call.Opaque),
		}}
	case a.Done != nil:
		done := session.Done{Stop: a.Stop, Usage: *a.Done, Notice: a.Notice}
		if a.Error != nil {
			done.Err = &session.ProviderError{Kind: a.Error.Kind, Status: a.Error.Status, Message: a.Error.Message, Hint: a.Error.Hint, Cut: a.Error.Cut}
		}
		return done
	}
	return nil
}

// opaque keeps nil distinct from empty, as the providers do.
func opaque(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}
