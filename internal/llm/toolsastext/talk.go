package toolsastext

import (
	"encoding/json"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

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
	r.Messages = wire.Texts(r.Messages)
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
