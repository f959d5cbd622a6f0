package run_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/llm/anthropic"
	"adze/internal/llm/gemini"
	"adze/internal/llm/ollama"
	"adze/internal/llm/openai"
	"adze/internal/llm/replay"
	"adze/internal/llm/responses"
	"adze/internal/llm/textparse"
	"adze/internal/testkit/llmtest"
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
	return recovering{r.Wire.New(o), o.NewID}
}

type recovering struct {
	session.Provider
	newID func() string
}

func (p recovering) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	newID := p.newID
	if newID == nil {
		newID = rand.Text
	}
	return textparse.Recover(p.Provider.Stream(ctx, r), r, newID)
}

// third asks for a model of Gemini's third generation, whatever is named.
type third struct{ *gemini.Provider }

func (p third) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	r.Model = "gemini-3-pro-preview"
	return p.Provider.Stream(ctx, r)
}

type format struct {
	name string
	wire llmtest.Wire
}

func formats() []format {
	return []format{
		{"chat", chat{}}, {"messages", messages{}}, {"responses", flat{}}, {"gemini", generate{}},
		{"gemini 3", generate{llmtest.Gemini{Third: true}}}, {"ollama", native{}},
	}
}

// What came over any format is replayed chunk for chunk, seals, failures and all.
func TestRecordingsOfEachFormat(t *testing.T) {
	for _, f := range formats() {
		t.Run(f.name, func(t *testing.T) {
			a := llmtest.Answer{Reasoning: "Let me think… 思考", Text: "I look. <&>", Piece: 5, Calls: []llmtest.Call{
				{ID: "call_a", Name: "read", Arguments: `{"path":"ä\n"}`}, {ID: "call_b", Name: "list", Arguments: `{}`},
			}}
			stream := f.wire.Encode(a)
			n := 0
			s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if f.wire.Side(rw, r) {
					return
				}
				rw.Header().Set("Content-Type", stream.ContentType)
				body := stream.Body
				if n++; n == 2 {
					body = body[:stream.Terminal] // breaks off
				}
				_, _ = io.WriteString(rw, body)
			}))
			defer s.Close()
			var tape bytes.Buffer
			live := replay.NewRecorder(f.wire.New(llmtest.Options{BaseURL: s.URL, Key: "own-key-of-no-shape"}), &tape, "own-key-of-no-shape")
			q := session.Request{Model: "m", Messages: []session.Message{{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "go"}}}}}
			var want, got []session.Chunk
			for range 2 {
				want = slices.AppendSeq(want, live.Stream(t.Context(), q))
			}
			p, err := replay.NewPlayer(&tape)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				got = slices.AppendSeq(got, p.Stream(t.Context(), q))
			}
			if diff := cmp.Diff(want, got); diff != "" || len(want) < 8 || p.Name() != live.Name() {
				t.Errorf("(-live +replayed)\n%s", diff)
			}
			if done, ok := got[len(got)-1].(session.Done); !ok || done.Err == nil {
				t.Errorf("the answer that broke off ends with %v", got[len(got)-1])
			}
		})
	}
}

// A session that begins on one wire format goes on over each other one, and back.
func TestSessionsChangeTheirFormat(t *testing.T) {
	for _, from := range formats() {
		for _, to := range formats() {
			t.Run(from.name+" to "+to.name, func(t *testing.T) { llmtest.Relay(t, from.wire, to.wire) })
		}
	}
}

// With the recovery of text calls around it, a provider still is one.
func TestRecoveryKeepsTheContract(t *testing.T) {
	llmtest.Run(t, recovered{chat{}})
}
