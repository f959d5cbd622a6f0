package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"adze/internal/llm/wire"
	"adze/session"
)

func kindOf(t *testing.T, c wire.Client, object string) (session.ErrorKind, string) {
	t.Helper()
	var failure *session.ProviderError
	if !errors.As(c.Object(json.RawMessage(object)), &failure) {
		t.Fatalf("%s: no provider error", object)
	}
	return failure.Kind, failure.Message
}

// The wordings are those of public servers; only the numbers are made up.
func TestWordingsOfAPromptThatDoesNotFit(t *testing.T) {
	c := wire.Client{Provider: "p"}
	for server, said := range map[string]string{
		"openai":     "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
		"anthropic":  "prompt is too long: 210000 tokens > 200000 maximum",
		"anthropic2": "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000",
		"llama.cpp":  "the request exceeds the available context size, try increasing it",
		"ollama":     "the input length exceeds the context length",
		"ollama2":    "the prompt is longer than the context length currently available to the model",
		"gemini":     "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
		"bedrock":    "Input is too long for requested model.",
		"groq":       "Please reduce the length of the messages or completion.",
		"xai":        "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
		"kimi":       "Invalid request: Your request exceeded model token limit: 131072",
		"vllm":       "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
		"lm studio":  "Trying to keep the first 5000 tokens when context the overflows. The model is loaded with context length of only 4096 tokens",
		"tgi":        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.",
		"minimax":    "invalid params, context window exceeds limit",
	} {
		if kind, _ := kindOf(t, c, string(wire.JSON(said))); kind != session.ContextError {
			t.Errorf("%s: %s", server, kind)
		}
	}
	for _, said := range []string{"the context was cancelled", "unknown field context_length_hint", "the maximum is 4 markers"} {
		if kind, _ := kindOf(t, c, string(wire.JSON(said))); kind == session.ContextError {
			t.Errorf("%q is taken for a long prompt", said)
		}
	}
}

func TestErrorObjects(t *testing.T) {
	c := wire.Client{Provider: "p", Secret: "sk-0123456789"}
	for object, want := range map[string]string{
		`"it broke"`: "server p: it broke",
		`{"message":"No such model: x does not exist","code":"model_not_found"}`:    "no_model p: No such model: x does not exist",
		`{"type":"overloaded_error","message":"Overloaded"}`:                        "rate_limit p: Overloaded",
		`{"type":"invalid_request_error","message":"bad\n\tfield\u001b[31m\u0007"}`: "request p: bad field [31m",
		`{"type":"api_error"}`: "server p: api_error",
		`{"code":500,"message":"key sk-0123456789 and sk-012345*** fail."}`: "server p: key *** and *** fail",
		`{}`:   "bad_response p sent an error without a message",
		`null`: "bad_response p sent an error without a message",
		`17`:   "bad_response p sent an error without a message",
	} {
		kind, message := kindOf(t, c, object)
		if got := string(kind) + " " + message; got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", object, got, want)
		}
	}
	if _, message := kindOf(t, c, string(wire.JSON(strings.Repeat("ä", 2000)))); len(message) > 420 || !strings.HasSuffix(message, "…") {
		t.Errorf("%d bytes of message", len(message))
	}
}
