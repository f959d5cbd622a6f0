package conformance_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
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
	"adze/internal/llm/script"
	"adze/internal/llm/textparse"
	"adze/session"
)

// The formats that a session can be carried over.
type (
	chat      struct{ Chat }
	messages  struct{ Messages }
	flat      struct{ Responses }
	generate  struct{ Gemini }
	native    struct{ Ollama }
	recovered struct{ Wire }
)

func (chat) New(o Options) session.Provider {
	return openai.New(openai.Options{BaseURL: o.BaseURL + "/v1", Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}

func (messages) New(o Options) session.Provider {
	return anthropic.New(anthropic.Options{BaseURL: o.BaseURL, Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}

func (flat) New(o Options) session.Provider {
	return responses.New(responses.Options{BaseURL: o.BaseURL + "/v1", Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}

func (g generate) New(o Options) session.Provider {
	p := gemini.New(gemini.Options{BaseURL: o.BaseURL, Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
	if g.Third {
		return third{p}
	}
	return p
}

func (native) New(o Options) session.Provider {
	return ollama.New(ollama.Options{BaseURL: o.BaseURL, Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}

// New wraps a format's provider as local servers' are.
func (r recovered) New(o Options) session.Provider {
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
	name   string
	wire   Wire
	folder string // of its written streams; if empty, those of another row
	side   int    // pixels of the longer side of a picture that it sends
}

func formats() []format {
	return []format{
		{"chat", chat{}, "openai", 2048}, {"messages", messages{}, "anthropic", 1568}, {"responses", flat{}, "responses", 2048}, {"gemini", generate{}, "gemini", 3072},
		{"gemini 3", generate{Gemini{Third: true}}, "", 3072}, {"ollama", native{}, "ollama", 1344},
	}
}

var update = flag.Bool("update", false, "rewrite the wants of testdata/stream")

func folder(name string) string { return "../../../testdata/stream/" + name }

func TestFormats(t *testing.T) {
	for _, f := range formats() {
		t.Run(f.name, func(t *testing.T) { suite(t, f.wire) })
	}
}

func TestCases(t *testing.T) {
	for _, f := range formats() {
		if f.folder != "" {
			t.Run(f.name, func(t *testing.T) { cases(t, f.wire, folder(f.folder), *update) })
		}
	}
}

func FuzzChat(f *testing.F)      { fuzz(f, chat{}, folder("openai")) }
func FuzzMessages(f *testing.F)  { fuzz(f, messages{}, folder("anthropic")) }
func FuzzResponses(f *testing.F) { fuzz(f, flat{}, folder("responses")) }
func FuzzGemini(f *testing.F)    { fuzz(f, generate{}, folder("gemini")) }
func FuzzOllama(f *testing.F)    { fuzz(f, native{}, folder("ollama")) }

func BenchmarkStream(b *testing.B) {
	for _, f := range formats() {
		b.Run(f.name, func(b *testing.B) { benchmark(b, f.wire) })
	}
}

func TestPicturesAreOfTheSizeThatModelsUse(t *testing.T) {
	for _, f := range formats() {
		t.Run(f.name, func(t *testing.T) {
			scalesPictures(t, f.side, func(url string) session.Provider { return f.wire.New(Options{BaseURL: url, Key: "k"}) }, "m")
		})
	}
}

// What holds for every provider holds for a script, and for calls that are recovered from its text.
func TestAScriptIsAProvider(t *testing.T) {
	const written = "-- 1 --\ntext: I read. <tool_call>{\"name\": \"read\", \"arguments\": {}}</tool_call>\nusage: input=5\n"
	r := question("go")
	r.Tools = offered()
	sound(t, func() session.Provider { return script.New(script.Options{Script: []byte(written)}) }, r)
	sound(t, func() session.Provider { return recovering{script.New(script.Options{Script: []byte(written)}), nil} }, r)
}

// What came over any format is replayed chunk for chunk, seals, failures and all.
func TestRecordingsOfEachFormat(t *testing.T) {
	for _, f := range formats() {
		t.Run(f.name, func(t *testing.T) {
			a := Answer{Reasoning: "Let me think… 思考", Text: "I look. <&>", Piece: 5, Calls: []Call{
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
			live := replay.NewRecorder(f.wire.New(Options{BaseURL: s.URL, Key: "own-key-of-no-shape"}), &tape, "own-key-of-no-shape")
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
			t.Run(from.name+" to "+to.name, func(t *testing.T) { relay(t, from.wire, to.wire) })
		}
	}
}

// With the recovery of text calls around it, a provider still is one.
func TestRecoveryKeepsTheContract(t *testing.T) {
	suite(t, recovered{chat{}})
}
