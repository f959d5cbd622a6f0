package clouds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"adze/internal/llm/wire"
)

// object is a JSON object; its fields are written in the order of their names.
type object = map[string]any

// The parts of the Messages format that the adapter writes.
type (
	messagesBody struct {
		Model     string                       `json:"model"`
		MaxTokens int                          `json:"max_tokens"`
		Thinking  json.RawMessage              `json:"thinking"`
		Output    json.RawMessage              `json:"output_config"`
		ToolKind  *struct{ Type, Name string } `json:"tool_choice"`
		Tools     []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
			Cache       json.RawMessage `json:"cache_control"`
		} `json:"tools"`
		System   []messagesBlock `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content []messagesBlock `json:"content"`
		} `json:"messages"`
	}
	messagesBlock struct {
		Type, Text, ID, Name, Thinking, Signature, Data, Title string
		Input                                                  json.RawMessage
		CallID                                                 string          `json:"tool_use_id"`
		Failed                                                 bool            `json:"is_error"`
		Content                                                json.RawMessage `json:"content"`
		Cache                                                  json.RawMessage `json:"cache_control"`
		Source                                                 struct {
			Media string `json:"media_type"`
			Data  string `json:"data"`
		} `json:"source"`
	}
)

// toConverse converts a request from the Messages format. The same messages yield the same bytes.
func toConverse(given *wire.Body) *wire.Body {
	raw, _ := io.ReadAll(given.Reader()) // it reads from memory
	var in messagesBody
	if json.Unmarshal(raw, &in) != nil {
		return given // the server refuses it
	}
	// Models without prompt caching refuse the mark, and the name of a profile of one's own does not
	// tell the model.
	caches := IsClaude(in.Model) || strings.Contains(in.Model, "amazon.nova")
	out := struct {
		Config struct {
			MaxTokens int `json:"maxTokens"`
		} `json:"inferenceConfig"`
		More     object   `json:"additionalModelRequestFields,omitempty"`
		Tools    object   `json:"toolConfig,omitempty"`
		System   []object `json:"system,omitempty"`
		Messages []object `json:"messages"`
	}{}
	out.Config.MaxTokens = in.MaxTokens
	if len(in.Thinking) > 0 && IsClaude(in.Model) {
		out.More = object{"thinking": in.Thinking}
		if len(in.Output) > 0 {
			out.More["output_config"] = in.Output
		}
	}
	var tools []object
	for _, t := range in.Tools {
		tools = append(tools, object{"toolSpec": object{"name": t.Name, "description": t.Description, "inputSchema": object{"json": t.Schema}}})
		if IsClaude(in.Model) && len(t.Cache) > 0 { // Nova takes no marks among its tools
			tools = append(tools, cachePoint())
		}
	}
	if len(tools) > 0 {
		out.Tools = object{"tools": tools}
		switch kind := in.ToolKind; {
		case kind == nil || kind.Type == "none": // there is no such choice
		case kind.Type == "any":
			out.Tools["toolChoice"] = object{"any": object{}}
		case kind.Type == "tool":
			out.Tools["toolChoice"] = object{"tool": object{"name": kind.Name}}
		}
	}
	out.System = converseBlocks(in.System, caches)
	for _, m := range in.Messages {
		out.Messages = append(out.Messages, object{"role": m.Role, "content": converseBlocks(m.Content, caches)})
	}
	b := &wire.Body{}
	b.Add(wire.JSON(out))
	return b
}

func cachePoint() object { return object{"cachePoint": object{"type": "default"}} }

func converseBlocks(blocks []messagesBlock, caches bool) (out []object) {
	documents := 0
	for _, b := range blocks {
		switch b.Type {
		case "text":
			out = append(out, object{"text": b.Text})
		case "thinking":
			out = append(out, object{"reasoningContent": object{"reasoningText": object{"text": b.Thinking, "signature": b.Signature}}})
		case "redacted_thinking":
			out = append(out, object{"reasoningContent": object{"redactedContent": b.Data}})
		case "tool_use":
			out = append(out, object{"toolUse": object{"toolUseId": b.ID, "name": b.Name, "input": b.Input}})
		case "image":
			out = append(out, object{"image": object{"format": strings.TrimPrefix(b.Source.Media, "image/"), "source": object{"bytes": b.Source.Data}}})
		case "document":
			documents++ // a name takes few kinds of characters, and must differ; beside it a text must stand
			out = append(out, object{"text": "The document " + b.Title + ":"}, object{"document": object{"format": strings.TrimPrefix(b.Source.Media, "application/"), "name": fmt.Sprintf("document %d", documents), "source": object{"bytes": b.Source.Data}}})
		case "tool_result":
			status := "success"
			if b.Failed {
				status = "error"
			}
			out = append(out, object{"toolResult": object{"toolUseId": b.CallID, "content": resultBlocks(b.Content), "status": status}})
		}
		if caches && len(b.Cache) > 0 {
			out = append(out, cachePoint())
		}
	}
	return out
}

// resultBlocks converts a result's content, which is a text or blocks and may be missing.
func resultBlocks(raw json.RawMessage) []object {
	var text string
	var blocks []messagesBlock
	if json.Unmarshal(raw, &blocks) == nil && len(blocks) > 0 {
		return converseBlocks(blocks, false)
	}
	_ = json.Unmarshal(raw, &text) // a missing one stays empty
	if strings.TrimSpace(text) == "" {
		text = "(no output)" // an empty text is refused
	}
	return []object{{"text": text}}
}

// converse converts the events of converse-stream to those of the Messages format. The counts come
// behind the reason for the end, so the last event waits for them.
type converse struct{ stopped, done bool }

func (c *converse) event(kind string, payload []byte) [][]byte {
	var e struct {
		Index int `json:"contentBlockIndex"`
		Start struct {
			ToolUse struct {
				ID   string `json:"toolUseId"`
				Name string `json:"name"`
			} `json:"toolUse"`
		} `json:"start"`
		Delta struct {
			Text    *string `json:"text"`
			ToolUse *struct {
				Input string `json:"input"`
			} `json:"toolUse"`
			Thought *struct {
				Text      string `json:"text"`
				Signature string `json:"signature"`
				Redacted  []byte `json:"redactedContent"`
			} `json:"reasoningContent"`
		} `json:"delta"`
		Stop  string `json:"stopReason"`
		Usage *struct {
			Input  int `json:"inputTokens"`
			Output int `json:"outputTokens"`
			Read   int `json:"cacheReadInputTokens"`
			Write  int `json:"cacheWriteInputTokens"`
		} `json:"usage"`
	}
	if kind != "" && json.Unmarshal(payload, &e) != nil {
		return [][]byte{payload} // the adapter says that it is malformed
	}
	one := func(o object) [][]byte { return [][]byte{wire.JSON(o)} }
	delta := func(d object) [][]byte {
		return one(object{"type": "content_block_delta", "index": e.Index, "delta": d})
	}
	switch d := e.Delta; {
	case kind == "contentBlockStart":
		block := object{"type": "tool_use", "id": e.Start.ToolUse.ID, "name": e.Start.ToolUse.Name}
		if !bytes.Contains(payload, []byte(`"toolUse"`)) {
			return nil // text and thoughts begin with their first piece
		}
		return one(object{"type": "content_block_start", "index": e.Index, "content_block": block})
	case kind == "contentBlockDelta" && d.Text != nil:
		return delta(object{"type": "text_delta", "text": *d.Text})
	case kind == "contentBlockDelta" && d.ToolUse != nil:
		return delta(object{"type": "input_json_delta", "partial_json": d.ToolUse.Input})
	case kind == "contentBlockDelta" && d.Thought != nil && len(d.Thought.Redacted) > 0:
		block := object{"type": "redacted_thinking", "data": d.Thought.Redacted}
		return one(object{"type": "content_block_start", "index": e.Index, "content_block": block})
	case kind == "contentBlockDelta" && d.Thought != nil && d.Thought.Signature != "":
		return delta(object{"type": "signature_delta", "signature": d.Thought.Signature})
	case kind == "contentBlockDelta" && d.Thought != nil:
		return delta(object{"type": "thinking_delta", "thinking": d.Thought.Text})
	case kind == "contentBlockStop":
		return one(object{"type": "content_block_stop", "index": e.Index})
	case kind == "messageStop":
		c.stopped = true
		return one(object{"type": "message_delta", "delta": object{"stop_reason": e.Stop}})
	case kind == "metadata" && e.Usage != nil:
		u := object{"input_tokens": e.Usage.Input, "output_tokens": e.Usage.Output, "cache_read_input_tokens": e.Usage.Read, "cache_creation_input_tokens": e.Usage.Write}
		counts := one(object{"type": "message_delta", "usage": u})
		if c.stopped {
			c.done = true
			counts = append(counts, wire.JSON(object{"type": "message_stop"}))
		}
		return counts
	case kind == "" && c.stopped && !c.done:
		return one(object{"type": "message_stop"})
	}
	return nil
}
