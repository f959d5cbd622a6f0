package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"adze/session"
	"adze/tool"
)

// talks counts the messages of each agent's last request.
type talks map[string]int

// news are the messages that the request has more than the one before. A subagent begins with one message.
func (t talks) news(q session.Request) []session.Message {
	before := min(t[q.Agent], len(q.Messages))
	if q.Agent != "" && len(q.Messages) == 1 {
		before = 0
	}
	return q.Messages[before:]
}

func (t talks) after(q session.Request) talks {
	if t == nil {
		t = talks{}
	}
	t[q.Agent] = len(q.Messages)
	return t
}

func digest(s []byte) string {
	sum := sha256.Sum256(s)
	return hex.EncodeToString(sum[:])
}

// sentOf keeps of messages what a model reads, masked.
func sentOf(messages []session.Message) []Sent {
	out := make([]Sent, len(messages))
	for i, m := range messages {
		out[i].Role = m.Role
		for _, p := range m.Parts {
			out[i].Parts = append(out[i].Parts, sentPart(p))
		}
	}
	return out
}

func sentPart(p session.Part) SentPart {
	switch {
	case p.Call != nil:
		return SentPart{Call: &SentCall{p.Call.ID, p.Call.Name, mask(p.Call.Arguments)}}
	case p.Outcome != nil:
		o := p.Outcome
		return SentPart{Outcome: &SentResult{o.Call, o.Tool, o.Status, mask(o.Output)}}
	case p.Attachment != nil:
		return SentPart{Attachment: digest(p.Attachment.Data)}
	case p.Kind == session.ReasoningPart:
		return SentPart{Reasoning: mask(p.Text)}
	}
	return SentPart{Text: mask(p.Text)}
}

// answerOf writes a chunk down.
func answerOf(c session.Chunk) Answer {
	switch c := c.(type) {
	case session.Text:
		text := mask(c.Delta)
		return Answer{Text: &text}
	case session.Reasoning:
		return Answer{Reasoning: &Thought{mask(c.Delta), string(c.Opaque)}}
	case session.Forming:
		return Answer{Forming: &FormingCall{c.ID, c.Name, c.Bytes}}
	case session.Call:
		return Answer{Call: &FullCall{c.ID, c.Name, mask(c.Arguments), c.Origin, string(c.Opaque)}}
	case session.Done:
		a := Answer{Done: &c.Usage, Stop: c.Stop, Notice: c.Notice}
		if c.Err != nil {
			a.Error = failureOf(c.Err)
		}
		return a
	}
	return Answer{}
}

func (a Answer) chunk() session.Chunk {
	switch {
	case a.Text != nil:
		return session.Text{Delta: *a.Text}
	case a.Reasoning != nil:
		return session.Reasoning{Delta: a.Reasoning.Delta, Opaque: opaque(a.Reasoning.Opaque)}
	case a.Forming != nil:
		return session.Forming{ID: a.Forming.ID, Name: a.Forming.Name, Bytes: a.Forming.Bytes}
	case a.Call != nil:
		return session.Call{RawCall: tool.RawCall{
			ID: a.Call.ID, Name: a.Call.Name, Arguments: a.Call.Arguments, Origin: a.Call.Origin, Opaque: opaque(a.Call.Opaque),
		}}
	case a.Done != nil:
		done := session.Done{Stop: a.Stop, Usage: *a.Done, Notice: a.Notice}
		if a.Error != nil {
			done.Err = &session.ProviderError{Kind: a.Error.Kind, Status: a.Error.Status, Message: a.Error.Message, Hint: a.Error.Hint}
		}
		return done
	}
	return nil
}

// opaque keeps nil apart from empty, as the providers do.
func opaque(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}
