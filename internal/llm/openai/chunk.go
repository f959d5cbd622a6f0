package openai

import (
	"cmp"
	"encoding/json"

	"adze/internal/llm/wire"
)

// The fields of a stream chunk that adze uses.
type (
	chunk struct {
		Choices wire.Maybe[[]choice] `json:"choices"`
		Usage   wire.Lenient[usage]  `json:"usage"`
		Error   json.RawMessage      `json:"error"`
		// Older vLLM servers: {"object":"error","message":...}.
		Message wire.Word `json:"message"`
		// MiniMax reports failures here, with status 200.
		Base wire.Lenient[baseResponse] `json:"base_resp"`
		// Groq's additions: counts, and the reason for an early end.
		Groq wire.Lenient[struct {
			Usage wire.Lenient[usage] `json:"usage"`
			Error json.RawMessage     `json:"error"`
		}] `json:"x_groq"`
	}
	baseResponse struct {
		Code    wire.Count `json:"status_code"` // 0 means success
		Message wire.Word  `json:"status_msg"`
	}
	choice struct {
		Index   wire.Number         `json:"index"`
		Delta   *wire.Maybe[delta]  `json:"delta"`
		Message *wire.Maybe[delta]  `json:"message"` // from a server that does not stream, or in addition to the stream
		Finish  wire.Word           `json:"finish_reason"`
		Native  wire.Word           `json:"native_finish_reason"` // OpenRouter: the original provider's
		Error   json.RawMessage     `json:"error"`                // OpenRouter
		Usage   wire.Lenient[usage] `json:"usage"`                // Kimi
	}
	delta struct {
		Content          content                       `json:"content"`
		Reasoning        wire.Prose                    `json:"reasoning"`         // OpenRouter, vLLM, Ollama
		ReasoningContent wire.Prose                    `json:"reasoning_content"` // DeepSeek, llama.cpp
		ReasoningText    wire.Prose                    `json:"reasoning_text"`    // Copilot
		Thinking         wire.Prose                    `json:"thinking"`
		Details          wire.Maybe[[]json.RawMessage] `json:"reasoning_details"` // OpenRouter
		Refusal          wire.Prose                    `json:"refusal"`
		Calls            wire.Maybe[[]fragment]        `json:"tool_calls"`
		// The single call of the format's first version.
		Called wire.Maybe[called] `json:"function_call"`
	}
	fragment struct {
		Index    *wire.Number       `json:"index"`
		ID       wire.Word          `json:"id"`
		Function wire.Maybe[called] `json:"function"`
		Extra    json.RawMessage    `json:"extra_content"`
		called                      // without the enclosing function: Workers AI
	}
	called struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	usage struct {
		Prompt        wire.Count `json:"prompt_tokens"`
		Completion    wire.Count `json:"completion_tokens"`
		Total         wire.Count `json:"total_tokens"`
		PromptDetails wire.Lenient[struct {
			Cached   wire.Count `json:"cached_tokens"`
			Written  wire.Count `json:"cache_write_tokens"`          // OpenRouter
			Created  wire.Count `json:"cache_creation_tokens"`       // LiteLLM
			Creation wire.Count `json:"cache_creation_input_tokens"` // Alibaba
		}] `json:"prompt_tokens_details"`
		CompletionDetails wire.Lenient[struct {
			Reasoning wire.Count `json:"reasoning_tokens"`
		}] `json:"completion_tokens_details"`
		CacheHit wire.Count `json:"prompt_cache_hit_tokens"`     // DeepSeek
		Cached   wire.Count `json:"cached_tokens"`               // Kimi
		Read     wire.Count `json:"cache_read_input_tokens"`     // LiteLLM, for Anthropic
		Written  wire.Count `json:"cache_creation_input_tokens"` // LiteLLM, for Anthropic
	}
)

// thought returns the thinking in a delta, and its field's name.
func (d delta) thought() (text, field string) {
	switch {
	case d.ReasoningContent != "":
		return string(d.ReasoningContent), "reasoning_content"
	case d.Reasoning != "":
		return string(d.Reasoning), plainField
	}
	return string(cmp.Or(d.ReasoningText, d.Thinking)), ""
}

// says reports whether a delta has any content.
func (d delta) says() bool {
	return len(d.Content) > 0 || d.Refusal != "" || len(d.Calls.V) > 0 || d.Called.V.given()
}

func (c called) given() bool { return c.Name != "" || wire.IsSet(c.Arguments) }

func (u usage) counts() wire.Counts {
	d := u.PromptDetails.V
	return wire.Counts{
		Prompt: u.Prompt, Answer: u.Completion, Total: u.Total, Thoughts: u.CompletionDetails.V.Reasoning,
		Cached: max(d.Cached, u.CacheHit, u.Cached, u.Read), Written: max(d.Written, d.Created, d.Creation, u.Written),
	}
}
