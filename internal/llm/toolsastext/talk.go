package toolsastext

import (
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// suffix tells converted messages from the given ones: adapters keep what they encoded by the id.
const suffix = "-text"

// manual stands before the descriptions of the tools.
const manual = `

# Tools
You can call tools. To call one, write a block of exactly this form at the end of your reply, and nothing behind it:
<tool_call>
{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}
</tool_call>
Write one block for each call. You get the results in the next message, each in <tool_response name="NAME">.
A reply without such a block is your final answer. Never write a <tool_response> yourself.
These are the tools, one a line, with the JSON schema of their arguments:
`

// described is a tool as the manual shows it.
type described struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// converted is a request without tools. The same messages give the same bytes, however often they
// are sent.
func (p *Provider) converted(r session.Request) session.Request {
	if !p.options.Plain {
		r.System += describe(r.Tools)
	}
	r.Tools, r.ToolsDigest, r.Choice = nil, "", session.ChooseFreely
	var messages []session.Message
	for _, m := range wire.History(r.Messages) {
		m = inText(m)
		last := len(messages) - 1
		// The templates of many of these models want turns to alternate.
		if last >= 0 && m.Role == session.User && messages[last].Role == session.User {
			messages[last] = joined(messages[last], m)
			continue
		}
		messages = append(messages, m)
	}
	r.Messages = messages
	return r
}

func describe(tools []tool.Definition) string {
	var b strings.Builder
	b.WriteString(manual)
	for _, d := range tools {
		b.Write(wire.JSON(described{d.Name, d.Description, d.Offered()}))
		b.WriteByte('\n')
	}
	return b.String()
}

// inText writes the calls and results of a message as text; one without any stays as it is.
func inText(m session.Message) session.Message {
	if !slices.ContainsFunc(m.Parts, func(p session.Part) bool { return p.Call != nil || p.Outcome != nil }) {
		return m
	}
	out := m
	out.ID, out.Parts = m.ID+suffix, nil
	if m.Role == session.ToolRole {
		out.Role = session.User
	}
	for _, part := range m.Parts {
		switch {
		case part.Call != nil:
			out.Parts = append(out.Parts, session.Part{Kind: session.TextPart, Text: callText(*part.Call)})
		case part.Outcome != nil:
			out.Parts = append(out.Parts, session.Part{Kind: session.TextPart, Text: outcomeText(*part.Outcome)})
			for _, a := range part.Outcome.Attachments {
				out.Parts = append(out.Parts, session.Part{Kind: session.AttachmentPart, Attachment: &a})
			}
		default:
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
		arguments = wire.JSON(c.Arguments) // as the model wrote them
	}
	return "\n<tool_call>\n" + string(wire.JSON(struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}{c.Name, arguments})) + "\n</tool_call>"
}

func outcomeText(o tool.Outcome) string {
	return "<tool_response name=" + string(wire.JSON(o.Tool)) + ">\n" + o.Output + "\n</tool_response>\n"
}

func joined(a, b session.Message) session.Message {
	a.ID += "+" + b.ID
	a.Parts = append(append(slices.Clip(slices.Clone(a.Parts)), session.Part{Kind: session.TextPart, Text: "\n"}), b.Parts...)
	return a
}
