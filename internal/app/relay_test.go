package app_test

import (
	"context"
	"iter"
	"testing"

	"adze/internal/llm/anthropic"
	"adze/internal/llm/gemini"
	"adze/internal/llm/llmtest"
	"adze/internal/llm/ollama"
	"adze/internal/llm/openai"
	"adze/internal/llm/responses"
	"adze/internal/llm/textcall"
	"adze/session"
)

// The formats that a session can be carried over.
type (
	chat      struct{ llmtest.Chat }
	messages  struct{ llmtest.Messages }
	flat      struct{ llmtest.Responses }
	generate  struct{ llmtest.Gemini }
	native    struct{ llmtest.Ollama }
	recovered struct{ llmtest.Wire }
)

func (chat) New(o llmtest.Options) session.Provider {
	return openai.New(openai.Options{BaseURL: o.BaseURL + "/v1", Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}

func (messages) New(o llmtest.Options) session.Provider {
	return anthropic.New(anthropic.Options{BaseURL: o.BaseURL, Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}

func (flat) New(o llmtest.Options) session.Provider {
	return responses.New(responses.Options{BaseURL: o.BaseURL + "/v1", Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}

func (g generate) New(o llmtest.Options) session.Provider {
	p := gemini.New(gemini.Options{BaseURL: o.BaseURL, Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
	if g.Third {
		return third{p}
	}
	return p
}

func (native) New(o llmtest.Options) session.Provider {
	return ollama.New(ollama.Options{BaseURL: o.BaseURL, Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}

// New wraps a format's provider as local servers' are.
func (r recovered) New(o llmtest.Options) session.Provider {
	return textcall.Wrap(r.Wire.New(o), o.NewID)
}

// third asks for a model of Gemini's third generation, whatever is named.
type third struct{ *gemini.Provider }

func (p third) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	r.Model = "gemini-3-pro-preview"
	return p.Provider.Stream(ctx, r)
}

// A session that begins on one wire format goes on over each other one, and back.
func TestSessionsChangeTheirFormat(t *testing.T) {
	formats := []struct {
		name string
		wire llmtest.Wire
	}{
		{"chat", chat{}}, {"messages", messages{}}, {"responses", flat{}}, {"gemini", generate{}},
		{"gemini 3", generate{llmtest.Gemini{Third: true}}}, {"ollama", native{}},
	}
	for _, from := range formats {
		for _, to := range formats {
			t.Run(from.name+" to "+to.name, func(t *testing.T) { llmtest.Relay(t, from.wire, to.wire) })
		}
	}
}

// With the recovery of text calls around it, a provider still is one.
func TestRecoveryKeepsTheContract(t *testing.T) {
	llmtest.Run(t, recovered{chat{}})
}
