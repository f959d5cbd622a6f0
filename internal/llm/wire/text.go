package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
)

// Texts returns a conversation with calls and results as text and alternating roles. The same
// messages always give the same bytes.
func Texts(messages []session.Message) (out []session.Message) {
	for _, m := range new(Cache).History(messages) {
		m = inText(m)
		if last := len(out) - 1; last >= 0 && out[last].Role == m.Role {
			out[last] = joined(out[last], m)
			continue
		}
		out = append(out, m)
	}
	return out
}

// silenced removes an answer's thoughts and related data.
func silenced(m session.Message) session.Message {
	if m.Role != session.Assistant || !slices.ContainsFunc(m.Parts, func(p session.Part) bool { return p.Kind == session.ReasoningPart }) {
		return m
	}
	m.ID += "-said"
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p session.Part) bool { return p.Kind == session.ReasoningPart })
	return m
}

// inText writes a message's calls and results as text, without thoughts. A message without them is
// unchanged.
func inText(m session.Message) session.Message {
	if !slices.ContainsFunc(m.Parts, func(p session.Part) bool { return p.Call != nil || p.Outcome != nil }) {
		return silenced(m)
	}
	out := m
	out.ID, out.Parts = m.ID+"-text", nil
	if m.Role == session.ToolRole {
		out.Role = session.User
	}
	for _, part := range m.Parts {
		switch {
		case part.Call != nil:
			out.Parts = append(out.Parts, session.Part{Kind: session.TextPart, Text: callText(*part.Call)})
		case part.Outcome != nil:
			out.Parts = append(out.Parts, session.Part{Kind: session.TextPart, Text: "<tool_response name=" + string(JSON(part.Outcome.Tool)) + ">\n" + part.Outcome.Output + "\n</tool_response>\n"})
			for _, a := range part.Outcome.Attachments {
				out.Parts = append(out.Parts, session.Part{Kind: session.AttachmentPart, Attachment: &a})
			}
		case part.Kind != session.ReasoningPart:
			out.Parts = append(out.Parts, part)
		}
	}
	return out
}

func callText(c tool.RawCall) string {
	arguments := json.RawMessage(c.Arguments)
	switch {
	case strings.TrimSpace(c.Arguments) == "":
		arguments = json.RawMessage("{}")
	case !json.Valid(arguments):
		arguments = JSON(c.Arguments) // as the model wrote them
	}
	return "\n<tool_call>\n" + string(JSON(struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}{c.Name, arguments})) + "\n</tool_call>"
}

func joined(a, b session.Message) session.Message {
	a.ID += "+" + b.ID
	a.Parts = append(append(slices.Clip(slices.Clone(a.Parts)), session.Part{Kind: session.TextPart, Text: "\n"}), b.Parts...)
	return a
}
