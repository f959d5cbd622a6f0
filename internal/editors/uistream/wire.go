package uistream

import (
	"encoding/json"

	"adze/internal/text/redact"
	"adze/tool"
)

// Wire writes parts in one of the two forms. It is for one stream.
type Wire struct {
	// Data chooses the older data stream: a line for each part, a code and JSON.
	Data bool
	// Mask hides secrets; if nil, only those that are known by their look.
	Mask func() *redact.Masker

	message string
	named   map[tool.CallID]bool // calls that were told
	ended   map[tool.CallID]bool
	whole   map[tool.CallID]bool // those whose arguments were
}

// Header says what follows, as headers of HTTP.
func (w *Wire) Header(set func(name, value string)) {
	set("Cache-Control", "no-cache")
	set("X-Accel-Buffering", "no")
	if w.Data {
		set("Content-Type", "text/plain; charset=utf-8")
		set("X-Vercel-AI-Data-Stream", "v1")
		return
	}
	set("Content-Type", "text/event-stream")
	set("X-Vercel-AI-UI-Message-Stream", "v1")
}

// Done ends a stream: readers take one without an end for a broken one.
func (w *Wire) Done() []byte {
	if w.Data {
		return nil
	}
	return []byte("data: [DONE]\n\n")
}

// Append adds a part to b.
func (w *Wire) Append(b []byte, p Part) []byte {
	if w.Data {
		return w.lines(b, p)
	}
	b = append(b, "data: "...)
	b = append(b, w.json(p)...)
	return append(b, '\n', '\n')
}

func (w *Wire) json(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil { // only blocks of a tool's broken metadata could do this
		raw, _ = json.Marshal(Part{Type: "data-notice", Data: Notice{"a part could not be encoded: " + err.Error()}, Transient: true})
	}
	return Options{Mask: w.Mask}.mask().JSON(raw)
}

// lines are those of the data stream. It has no part for an approval, which goes as data like all
// that is ours.
func (w *Wire) lines(b []byte, p Part) []byte {
	line := func(code string, value any) {
		b = append(b, code...)
		b = append(b, ':')
		b = append(append(b, w.json(value)...), '\n')
	}
	switch p.Type {
	case "start":
		w.message = p.MessageID
	case "start-step":
		line("f", map[string]any{"messageId": w.message})
	case "text-delta":
		line("0", p.Delta)
	case "reasoning-delta":
		line("g", p.Delta)
	case "tool-input-start":
		w.name(p, line)
	case "tool-input-available":
		w.arguments(p, line)
	case "tool-output-available":
		w.result(p, map[string]any{"toolCallId": p.ToolCallID, "result": p.Output}, line)
	case "tool-output-error":
		w.result(p, map[string]any{"toolCallId": p.ToolCallID, "result": p.ErrorText, "isError": true}, line)
	case "error":
		line("3", p.ErrorText)
	case "finish-step":
		line("e", map[string]any{"finishReason": "unknown", "usage": counted(p.Usage), "isContinued": false})
	case "finish":
		line("d", map[string]any{"finishReason": p.FinishReason, "usage": counted(p.Usage)})
	case "text-start", "text-end", "reasoning-start", "reasoning-end", "tool-input-delta":
	default:
		line("2", []any{p})
	}
	return b
}

func counted(u *Usage) Usage {
	if u == nil {
		return Usage{}
	}
	return *u
}

// name begins a call, once: its id must not come twice.
func (w *Wire) name(p Part, line func(string, any)) {
	if w.named == nil {
		w.named, w.ended, w.whole = map[tool.CallID]bool{}, map[tool.CallID]bool{}, map[tool.CallID]bool{}
	}
	if w.named[p.ToolCallID] {
		return
	}
	w.named[p.ToolCallID] = true
	line("b", map[string]any{"toolCallId": p.ToolCallID, "toolName": p.ToolName})
}

func (w *Wire) arguments(p Part, line func(string, any)) {
	w.name(p, line)
	if w.whole[p.ToolCallID] {
		return
	}
	w.whole[p.ToolCallID] = true
	line("c", map[string]any{"toolCallId": p.ToolCallID, "argsTextDelta": string(p.Input), "isFinal": true})
}

// result ends a call that was told, once.
func (w *Wire) result(p Part, value map[string]any, line func(string, any)) {
	if !w.named[p.ToolCallID] || w.ended[p.ToolCallID] {
		return
	}
	if !w.whole[p.ToolCallID] {
		w.arguments(Part{ToolCallID: p.ToolCallID, Input: json.RawMessage("{}")}, line)
	}
	w.ended[p.ToolCallID] = true
	line("a", value)
}
