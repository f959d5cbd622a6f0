package local

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"sync"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// Tools configure Describe.
type Tools struct {
	// Toolless reports whether the server says that a model takes no tools; nil means unknown.
	Toolless func(ctx context.Context, model string) bool
	// Findings remember the models at Address that refused tools; if nil, the next process asks
	// again.
	Findings *wire.Findings
	Address  string
	// Recover finds calls in the text of an answer; if nil, none are looked for.
	Recover func(iter.Seq[session.Chunk], session.Request) iter.Seq[session.Chunk]
	// Prints: the server may print any model's calls as text.
	Prints bool
}

const findingKind = "toolless"

// Describe gives tools to a model that takes none: the system prompt describes them, and calls and
// results become text in the form for Hermes and Qwen, which package textparse reads. It does so if
// the server says that the model takes none, or refused a request with them.
func Describe(o Tools) Decorator {
	var refused sync.Map // by model
	return func(p session.Provider) session.Provider {
		return decorated{p, func(ctx context.Context, r session.Request, yield func(session.Chunk) bool) {
			_, known := refused.Load(r.Model)
			switch {
			case len(r.Tools) == 0:
				p.Stream(ctx, r)(yield)
				return
			case known:
				o.text(ctx, p, r, "", yield)
				return
			case o.Findings.Get(o.Address, r.Model, findingKind, new(bool)), o.Toolless != nil && o.Toolless(ctx, r.Model):
				refused.Store(r.Model, true)
				o.text(ctx, p, r, notice(r.Model), yield)
				return
			}
			begun, seq := false, p.Stream(ctx, r)
			if o.Prints {
				seq = o.Recover(seq, r)
			}
			for c := range seq {
				if done, ok := c.(session.Done); ok && !begun && wire.NoTools(done.Err) {
					refused.Store(r.Model, true)
					o.Findings.Keep(o.Address, r.Model, findingKind, true)
					o.text(ctx, p, r, notice(r.Model), yield)
					return
				}
				begun = true
				if !yield(c) {
					return
				}
			}
		}}
	}
}

// text sends a request without tools but with their description.
func (o Tools) text(ctx context.Context, p session.Provider, r session.Request, said string, yield func(session.Chunk) bool) {
	asked := r
	asked.System += manual(r.Tools)
	asked.Tools, asked.ToolsDigest, asked.Choice = nil, "", session.ChooseFreely
	asked.Messages = wire.Texts(r.Messages)
	seq := p.Stream(ctx, asked)
	if o.Recover != nil {
		seq = o.Recover(seq, r)
	}
	ending(seq, yield, func(done session.Done) session.Done {
		if said != "" && done.Err == nil {
			done.Notice = strings.TrimSuffix(said+"; "+done.Notice, "; ")
		}
		return done
	})
}

func notice(model string) string {
	return model + " takes no tools: they are described to it in words, and the calls that it writes as text are checked and run like any other"
}

// manual describes tools. The same tools give the same bytes.
func manual(tools []tool.Definition) string {
	var b strings.Builder
	b.WriteString(`

# Tools
You can call tools. To call one, write a block of exactly this form at the end of your reply, and nothing behind it:
<tool_call>
{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}
</tool_call>
Write one block for each call. You get the results in the next message, each in <tool_response name="NAME">.
A reply without such a block is your final answer. Never write a <tool_response> yourself.
These are the tools, one a line, with the JSON schema of their arguments:
`)
	for _, d := range tools {
		b.Write(wire.JSON(struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		}{d.Name, d.Description, d.Offered()}))
		b.WriteByte('\n')
	}
	return b.String()
}
