package openai

import (
	"encoding/json"

	"adze/internal/llm/wire"
	"adze/session"
)

// What a stream is made of; fields that are not here are not needed.
type (
	chunk struct {
		Choices wire.Maybe[[]choice] `json:"choices"`
		Usage   wire.Aside[usage]    `json:"usage"`
		Error   json.RawMessage      `json:"error"`
		// Message is in the error of older vLLM servers: {"object":"error","message":...}.
		Message wire.Word `json:"message"`
		// Base is MiniMax's way to fail with status 200.
		Base wire.Aside[baseResponse] `json:"base_resp"`
	}
	baseResponse struct {
		Code    wire.Count `json:"status_code"` // 0: all is well
		Message wire.Word  `json:"status_msg"`
	}
	choice struct {
		Index   wire.Number        `json:"index"`
		Delta   wire.Maybe[delta]  `json:"delta"`
		Message *wire.Maybe[delta] `json:"message"` // from a server that does not stream
		Finish  wire.Word          `json:"finish_reason"`
	}
	delta struct {
		Content          content                       `json:"content"`
		Reasoning        string                        `json:"reasoning"`         // OpenRouter, vLLM, Ollama
		ReasoningContent string                        `json:"reasoning_content"` // DeepSeek, llama.cpp
		Details          wire.Maybe[[]json.RawMessage] `json:"reasoning_details"` // OpenRouter
		Refusal          string                        `json:"refusal"`
		Calls            wire.Maybe[[]fragment]        `json:"tool_calls"`
	}
	fragment struct {
		Index    *wire.Number       `json:"index"`
		ID       wire.Word          `json:"id"`
		Function wire.Maybe[called] `json:"function"`
		Extra    json.RawMessage    `json:"extra_content"`
	}
	called struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	usage struct {
		Prompt        wire.Count `json:"prompt_tokens"`
		Completion    wire.Count `json:"completion_tokens"`
		PromptDetails wire.Aside[struct {
			Cached wire.Count `json:"cached_tokens"`
		}] `json:"prompt_tokens_details"`
		CompletionDetails wire.Aside[struct {
			Reasoning wire.Count `json:"reasoning_tokens"`
		}] `json:"completion_tokens_details"`
		CacheHit wire.Count `json:"prompt_cache_hit_tokens"` // DeepSeek
	}
)

// count maps the usage.
func (u usage) count() session.Usage {
	cached := max(u.PromptDetails.V.Cached, u.CacheHit)
	return session.Usage{
		Input: int(max(0, u.Prompt-cached)), Output: int(u.Completion), CacheRead: int(cached),
		Reasoning: int(u.CompletionDetails.V.Reasoning),
	}
}
