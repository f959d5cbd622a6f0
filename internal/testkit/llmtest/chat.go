package llmtest

import (
	"fmt"

	"adze/internal/llm/wire"
)

// Chat is the Chat Completions format.
type Chat struct{}

// Encode writes an answer like the server.
func (Chat) Encode(a Answer) Stream {
	b := &Builder{ContentType: "text/event-stream; charset=utf-8"}
	delta := func(delta, finish string) {
		b.Record(`data: {"id":"c1","object":"chat.completion.chunk","created":1694268190,"model":"m","choices":[{"index":0,"delta":` +
			delta + `,"logprobs":null,"finish_reason":` + finish + "}]}\n\n")
	}
	delta(`{"role":"assistant","content":""}`, "null")
	for _, piece := range a.Pieces(a.Reasoning) {
		delta(fmt.Sprintf(`{"reasoning_content":%s}`, wire.JSON(piece)), "null")
	}
	for _, piece := range a.Pieces(a.Text) {
		delta(fmt.Sprintf(`{"content":%s}`, wire.JSON(piece)), "null")
	}
	for i, c := range a.Calls {
		delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}`,
			i, c.ID, c.Name), "null")
		for _, piece := range a.Pieces(c.Arguments) {
			delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, wire.JSON(piece)), "null")
		}
	}
	finish := `"stop"`
	switch {
	case a.Length:
		finish = `"length"`
	case len(a.Calls) > 0:
		finish = `"tool_calls"`
	}
	b.End()
	delta(`{}`, finish)
	b.Record(fmt.Sprintf(`data: {"id":"c1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n",
		a.Usage.Input, a.Usage.Output, a.Usage.Input+a.Usage.Output))
	b.Record("data: [DONE]\n\n")
	return b.Stream()
}
