package conformance_test

import (
	"bytes"
	"context"
	"iter"
	"regexp"
	"testing"

	"adze/internal/llm/openai"
	"adze/internal/llm/responses"
	"adze/session"
)

// Each server that is known to have manners of its own gets a session that only grows, too: the
// suite runs against one without a name, such as llama.cpp.
func TestRequestsToKnownServersGrow(t *testing.T) {
	for name, s := range map[string]known{
		"api.openai.com":           {},
		"DeepSeek":                 {base: "https://api.deepseek.com/v1"},
		"Mistral":                  {base: "https://api.mistral.ai/v1"},
		"Groq":                     {base: "https://api.groq.com/openai/v1"},
		"OpenRouter":               {base: "https://openrouter.ai/api/v1"},
		"Anthropic on OpenRouter":  {base: "https://openrouter.ai/api/v1", model: "anthropic/claude-sonnet-4.6"},
		"llama.cpp":                {base: "http://127.0.0.1:8080/v1"},
		"a model with a long name": {base: "http://127.0.0.1:1234/v1", model: "qwen/qwen3-coder-30b"},
	} {
		t.Run(name, func(t *testing.T) { grows(t, s) })
	}
}

// known is a server by its real address, which a transport of the test stands in for.
type known struct {
	Chat
	base, model string
}

func (k known) New(o Options) session.Provider {
	p := openai.New(openai.Options{BaseURL: k.base, Key: "key-of-the-test", HTTP: o.Instead(), NewID: o.NewID, Idle: o.Idle})
	if k.model == "" {
		return p
	}
	return asking{p, k.model}
}

// Grown also takes away the marks for the prompt cache, which move: a marked text is a list of one
// part, an unmarked one a string.
func (k known) Grown(body []byte) []byte {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	alone := regexp.MustCompile(`\[\{"type":"text","text":("(?:[^"\\]|\\.)*")` + regexp.QuoteMeta(mark) + `\}\]`)
	body = alone.ReplaceAll(body, []byte("$1"))
	return k.Chat.Grown(bytes.ReplaceAll(body, []byte(mark), nil))
}

// asking asks for one model, whatever the suite names.
type asking struct {
	*openai.Provider
	model string
}

func (a asking) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	r.Model = a.model
	return a.Provider.Stream(ctx, r)
}

// At api.openai.com itself a session only grows, too; the suite runs against a server without a
// name.
func TestRequestsToOpenAIGrow(t *testing.T) { grows(t, home{}) }

type home struct{ Responses }

func (home) New(o Options) session.Provider {
	return responses.New(responses.Options{Key: "key-of-the-test", HTTP: o.Instead(), NewID: o.NewID, Idle: o.Idle})
}
