package ollama_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/llm/ollama"
	"adze/session"
	"adze/tool"
)

// server is an Ollama with one model per entry of show.
type server struct {
	*httptest.Server
	show map[string]string
	// chat answers a request for this context.
	chat func(context int) (status int, body string)

	mu       sync.Mutex
	contexts []int
	bodies   []string
	paths    []string
	key      string
}

func serve(t *testing.T, s *server) *server {
	t.Helper()
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths, s.key = append(s.paths, r.URL.Path), r.Header.Get("Authorization")
	switch r.URL.Path {
	case "/api/tags":
		_, _ = io.WriteString(w, `{"models":[{"name":"small:1b","size":1,"details":{"parameter_size":"1B"}},{"name":"coder:7b","size":7},{"name":"other:8b","size":8},{"name":"broken:1b"}]}`)
	case "/api/ps":
		_, _ = io.WriteString(w, `{"models":[{"name":"other:8b","context_length":4096}]}`)
	case "/api/show":
		var asked struct{ Model string }
		_ = json.Unmarshal(body, &asked)
		shown, ok := s.show[asked.Model]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			shown = fmt.Sprintf(`{"error":"model '%s' not found"}`, asked.Model)
		}
		_, _ = io.WriteString(w, shown)
	case "/api/chat":
		var asked struct {
			Options struct {
				Context int `json:"num_ctx"`
			}
		}
		_ = json.Unmarshal(body, &asked)
		s.contexts, s.bodies = append(s.contexts, asked.Options.Context), append(s.bodies, string(body))
		status, answer := s.chat(asked.Options.Context)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "404 page not found")
	}
}

func counted(n int) func(int) (int, string) {
	return func(int) (int, string) {
		return 200, fmt.Sprintf(`{"message":{"content":"ok"},"done":true,"done_reason":"stop","prompt_eval_count":%d}`+"\n", n)
	}
}

func ask(p session.Provider, model string, text string) session.Done {
	return run(p, session.Request{Model: model, Messages: []session.Message{{
		ID: fmt.Sprint(len(text)), Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}},
	}}})
}

func run(p session.Provider, r session.Request) session.Done {
	var done session.Done
	for c := range p.Stream(context.Background(), r) {
		if d, ok := c.(session.Done); ok {
			done = d
		}
	}
	return done
}

const llama = `{"capabilities":["completion","tools"],"model_info":{"general.architecture":"llama","llama.context_length":65536}}`

func TestContextGrowsInPowersOfTwoAndNeverShrinks(t *testing.T) {
	s := serve(t, &server{show: map[string]string{"m": llama}, chat: counted(0)})
	p := ollama.New(ollama.Options{BaseURL: s.URL})
	for _, tokens := range []int{10, 3000, 5000, 100, 20_000, 100, 200_000} {
		if done := ask(p, "m", strings.Repeat("word", tokens)); done.Err != nil {
			t.Fatal(done.Err)
		}
	}
	if diff := cmp.Diff([]int{8192, 8192, 16384, 16384, 32768, 32768, 65536}, s.contexts); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(strings.Join(s.paths, " "), "/api/show"); n != 1 {
		t.Errorf("the model was shown %d times", n)
	}
}

// A large context costs memory, so that it grows by less than double.
func TestALargeContextGrowsInSmallerSteps(t *testing.T) {
	const large = `{"capabilities":["tools"],"model_info":{"x.context_length":200000}}`
	s := serve(t, &server{show: map[string]string{"m": large}, chat: counted(0)})
	p := ollama.New(ollama.Options{BaseURL: s.URL})
	for _, tokens := range []int{28_000, 40_000, 50_000, 70_000, 100_000, 150_000, 190_000, 199_000} {
		ask(p, "m", strings.Repeat("word", tokens))
	}
	if diff := cmp.Diff([]int{32768, 49152, 65536, 98304, 131072, 196608, 196608, 200000}, s.contexts); diff != "" {
		t.Error(diff)
	}
}

func TestLimitIsWhatARequestMayGet(t *testing.T) {
	s := serve(t, &server{show: map[string]string{"m": llama, "blind": `{}`}})
	p := ollama.New(ollama.Options{BaseURL: s.URL})
	for model, want := range map[string]int{"m": 65536, "blind": 32768, "none": 0} {
		if n := p.Limit(t.Context(), model); n != want {
			t.Errorf("%s: %d, want %d", model, n, want)
		}
	}
	if n := ollama.New(ollama.Options{BaseURL: s.URL, MaxContext: 9000}).Limit(t.Context(), "m"); n != 9000 {
		t.Errorf("capped: %d", n)
	}
}

func TestContextHonoursTheModelfileAndTheBound(t *testing.T) {
	const configured = `{"parameters":"temperature 0.7\nnum_ctx                        20000\n","capabilities":["tools"],"model_info":{"x.context_length":65536}}`
	s := serve(t, &server{show: map[string]string{"m": configured}, chat: counted(0)})
	ask(ollama.New(ollama.Options{BaseURL: s.URL}), "m", "hello")
	ask(ollama.New(ollama.Options{BaseURL: s.URL, MaxContext: 4096}), "m", strings.Repeat("word", 9000))
	if diff := cmp.Diff([]int{20000, 4096}, s.contexts); diff != "" {
		t.Error(diff)
	}
}

func TestPromptThatDoesNotFitIsSentWithMoreContext(t *testing.T) {
	s := serve(t, &server{show: map[string]string{"m": llama}})
	s.chat = func(context int) (int, string) {
		if context < 32768 {
			return 400, `{"error":"the input length exceeds the context length"}`
		}
		return counted(20_000)(0)
	}
	p := ollama.New(ollama.Options{BaseURL: s.URL})
	if done := ask(p, "m", strings.Repeat("x", 40_000)); done.Err != nil || done.Notice != "" {
		t.Fatalf("%+v", done)
	}
	// The count taught that a token is two bytes here.
	ask(p, "m", strings.Repeat("x", 80_000))
	if diff := cmp.Diff([]int{16384, 32768, 49152}, s.contexts); diff != "" {
		t.Error(diff)
	}
	s.chat = func(int) (int, string) { return 400, `{"error":"the input length exceeds the context length"}` }
	var failure *session.ProviderError
	if done := ask(p, "m", "x"); !errors.As(done.Err, &failure) || failure.Kind != session.ContextError {
		t.Errorf("%+v", done)
	}
}

func TestAnAnswerToACutPromptIsAFailure(t *testing.T) {
	for _, c := range []struct {
		name         string
		bytes, count int
		cut          bool
		words        string
	}{
		{"all read", 40_000, 10_000, false, ""},
		{"dense text", 40_000, 14_000, false, ""},
		{"nothing counted", 40_000, 0, false, ""},
		{"a short prompt", 400, 90, false, ""},
		{"the rest was cached", 40_000, 300, false, ""},
		{"full", 40_000, 16384, true, "fills the context of 16384 tokens"},
		{"front dropped", 400_000, 4096, true, "it read 4096"},
	} {
		s := serve(t, &server{show: map[string]string{"m": llama}, chat: counted(c.count)})
		done := ask(ollama.New(ollama.Options{BaseURL: s.URL}), "m", strings.Repeat("x", c.bytes))
		var failure *session.ProviderError
		cut := errors.As(done.Err, &failure) && failure.Kind == session.ContextError
		if cut != c.cut || cut && (!strings.Contains(failure.Message, c.words) || failure.Hint == "") {
			t.Errorf("%s: %+v", c.name, done)
		}
	}
}

// noise is a picture of more than 300,000 bytes.
func noise(t *testing.T) []byte {
	p := image.NewGray(image.Rect(0, 0, 600, 600))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range p.Pix {
		p.Pix[i] = uint8(random.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil || b.Len() < 300_000 {
		t.Fatal(err, b.Len())
	}
	return b.Bytes()
}

func TestImagesAreNotCountedAsText(t *testing.T) {
	const vision = `{"capabilities":["tools","vision"],"model_info":{"x.context_length":131072}}`
	s := serve(t, &server{show: map[string]string{"m": vision, "blind": llama}, chat: counted(0)})
	picture := &tool.Attachment{Name: "a.png", MediaType: "image/png", Data: noise(t)}
	r := session.Request{Model: "m", Messages: []session.Message{
		{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.AttachmentPart, Attachment: picture}}},
	}}
	p := ollama.New(ollama.Options{BaseURL: s.URL})
	run(p, r)
	r.Model = "blind"
	run(p, r)
	if diff := cmp.Diff([]int{8192, 8192}, s.contexts); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(s.bodies[0], `"images":["iVBOR`) || strings.Contains(s.bodies[1], `"images"`) ||
		!strings.Contains(s.bodies[1], "cannot be shown to this model") {
		t.Errorf("%.300s\n%.300s", s.bodies[0], s.bodies[1])
	}
}

func TestThinkIsSentWhereTheModelCan(t *testing.T) {
	const thinker = `{"capabilities":["tools","thinking"]}`
	s := serve(t, &server{show: map[string]string{"thinker": thinker, "gpt-oss:20b": thinker, "m": llama}, chat: counted(0)})
	ask(ollama.New(ollama.Options{BaseURL: s.URL}), "thinker", "hi")
	ask(ollama.New(ollama.Options{BaseURL: s.URL, Effort: "none"}), "thinker", "hi")
	ask(ollama.New(ollama.Options{BaseURL: s.URL}), "m", "hi")
	p := ollama.New(ollama.Options{BaseURL: s.URL, Effort: "none"})
	for _, r := range []session.Request{{Model: "thinker", Effort: "high"}, {Model: "gpt-oss:20b", Effort: "max"}, {Model: "gpt-oss:20b"}} {
		run(p, r)
	}
	for i, want := range []string{`"think":true`, `"think":false`, ``, `"think":true`, `"think":"high"`, `"think":"low"`} {
		if has := strings.Contains(s.bodies[i], `"think"`); has != (want != "") || !strings.Contains(s.bodies[i], want) {
			t.Errorf("%s", s.bodies[i])
		}
		if !strings.Contains(s.bodies[i], `"keep_alive":"30m"`) || !strings.Contains(s.bodies[i], `"truncate":false`) {
			t.Errorf("%s", s.bodies[i])
		}
	}
}

func TestAdvice(t *testing.T) {
	s := serve(t, &server{show: map[string]string{"m": llama}, chat: func(int) (int, string) {
		return 400, `{"error":"m does not support tools"}`
	}})
	p := ollama.New(ollama.Options{BaseURL: s.URL})
	for model, hint := range map[string]string{"none": "ollama pull none", "m": "choose a model that can use tools"} {
		var failure *session.ProviderError
		if done := ask(p, model, "hi"); !errors.As(done.Err, &failure) || !strings.Contains(failure.Hint, hint) {
			t.Errorf("%s: %#v", model, done.Err)
		}
	}
}

func TestServerWithoutShowIsUsedAsItIs(t *testing.T) {
	chat := http.NewServeMux()
	chat.HandleFunc("/api/chat", func(w http.ResponseWriter, _ *http.Request) {
		_, answer := counted(5)(0)
		_, _ = io.WriteString(w, answer)
	})
	s := httptest.NewServer(chat)
	defer s.Close()
	if done := ask(ollama.New(ollama.Options{BaseURL: s.URL}), "m", "hi"); done.Err != nil {
		t.Error(done.Err)
	}
}
