package llmtest

import (
	"fmt"

	"adze/internal/llm/wire"
)

// Ollama is the /api/chat format.
type Ollama struct{}

// Encode writes an answer like the server.
func (Ollama) Encode(a Answer) Stream {
	b := &Builder{ContentType: "application/x-ndjson"}
	message := func(message, rest string) {
		b.Record(`{"model":"m","created_at":"2026-11-21T03:00:00.123Z","message":{"role":"assistant",` + message + `}` + rest + "}\n")
	}
	for _, piece := range a.Pieces(a.Reasoning) {
		message(fmt.Sprintf(`"content":"","thinking":%s`, wire.JSON(piece)), `,"done":false`)
	}
	for _, piece := range a.Pieces(a.Text) {
		message(fmt.Sprintf(`"content":%s`, wire.JSON(piece)), `,"done":false`)
	}
	for i, c := range a.Calls {
		message(fmt.Sprintf(`"content":"","tool_calls":[{"id":%q,"function":{"index":%d,"name":%q,"arguments":%s}}]`,
			c.ID, i, c.Name, c.Arguments), `,"done":false`)
	}
	reason := "stop" // also with calls
	if a.Length {
		reason = "length"
	}
	b.End()
	message(`"content":""`, fmt.Sprintf(`,"done":true,"done_reason":%q,"total_duration":5,"prompt_eval_count":%d,"eval_count":%d`,
		reason, a.Usage.Input, a.Usage.Output))
	return b.Stream()
}
