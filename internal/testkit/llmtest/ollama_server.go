package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"adze/session"
)

// An OllamaServer behaves like an Ollama: it parses calls in the model's text, drops a call to a
// name that was not offered, and still counts its tokens. It has the native format, the
// OpenAI-compatible chat format, and the query endpoints.
//
// Set the fields before Start; the methods are safe for concurrent use.
type OllamaServer struct {
	*httptest.Server

	Model   string // the only model
	Tag     string // the template's prefix for a call; if empty, "{"
	Context int    // the trained context in tokens; if 0, 32768
	Default int    // the default num_ctx; if 0, 4096
	NoTools bool   // the model's template has no tools
	Thinks  bool   // the model thinks between <think> and </think>, which the server removes
	// Write returns the model's raw text for a request.
	Write func(OllamaRequest) string
	// Hidden denies its own endpoints, like a gateway; Silent denies all query endpoints.
	Hidden, Silent atomic.Bool
	HideVersion    atomic.Bool // does not identify itself as an Ollama

	mu    sync.Mutex
	asked []OllamaRequest
}

// OllamaRequest is a request for an answer.
type OllamaRequest struct {
	Path     string
	Model    string
	Tools    []string
	Refused  int // HTTP status of a refusal; 0 if answered
	Messages []OllamaMessage
	Body     string
}

// OllamaMessage is one message in a request.
type OllamaMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Start starts the server; the caller closes it.
func (s *OllamaServer) Start() *OllamaServer {
	s.Context, s.Default = cmp.Or(s.Context, 32768), cmp.Or(s.Default, 4096)
	abilities := []string{"completion"}
	if !s.NoTools {
		abilities = append(abilities, "tools")
	}
	if s.Thinks {
		abilities = append(abilities, "thinking")
	}
	mux := http.NewServeMux()
	for path, body := range map[string]string{
		"GET /api/version": `{"version":"0.17.4"}`,
		"GET /v1/models":   fmt.Sprintf(`{"object":"list","data":[{"id":%q,"object":"model","created":1,"owned_by":"library"}]}`, s.Model),
		"GET /api/tags":    fmt.Sprintf(`{"models":[{"name":%q,"model":%[1]q,"size":5000000000,"details":{"parameter_size":"8B"}}]}`, s.Model),
		"GET /api/ps":      fmt.Sprintf(`{"models":[{"name":%q,"context_length":%d}]}`, s.Model, s.Default),
		"POST /api/show": fmt.Sprintf(`{"template":"{{ .Prompt }}","capabilities":["%s"],"model_info":{"general.architecture":"llama","llama.context_length":%d}}`,
			strings.Join(abilities, `","`), s.Context),
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		})
	}
	mux.HandleFunc("POST /api/chat", s.chat)
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.Silent.Load() && r.Method == http.MethodGet:
			<-r.Context().Done()
		case s.HideVersion.Load() && r.URL.Path == "/api/version",
			s.Hidden.Load() && strings.HasPrefix(r.URL.Path, "/api/"):
			http.NotFound(w, r)
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	return s
}

// Asked returns the requests for an answer so far.
func (s *OllamaServer) Asked() []OllamaRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// chat answers a request in either format.
func (s *OllamaServer) chat(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model    string
		Truncate *bool
		Think    any
		Tools    []struct{ Function struct{ Name string } }
		Messages []OllamaMessage
		Options  struct {
			Context int `json:"num_ctx"`
		}
	}
	raw, _ := io.ReadAll(r.Body) // truncated input does not decode
	asked := OllamaRequest{Path: r.URL.Path, Body: string(raw)}
	refusal := ""
	refuse := func(status int, format string, args ...any) {
		asked.Refused, refusal = status, fmt.Sprintf(format, args...)
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		refuse(http.StatusBadRequest, "%v", err)
	}
	asked.Model, asked.Messages = body.Model, body.Messages
	for _, t := range body.Tools {
		asked.Tools = append(asked.Tools, t.Function.Name)
	}
	native := r.URL.Path == "/api/chat"
	window, prompt := s.Default, len(OllamaTokens(string(raw)))
	if native && body.Options.Context > 0 {
		window = min(body.Options.Context, s.Context)
	}
	switch {
	case refusal != "":
	case body.Model != s.Model:
		refuse(http.StatusNotFound, "model '%s' not found", body.Model)
	case len(body.Tools) > 0 && s.NoTools:
		refuse(http.StatusBadRequest, "registry.ollama.ai/library/%s does not support tools", s.Model)
	case prompt > window && native && body.Truncate != nil && !*body.Truncate:
		refuse(http.StatusBadRequest, "the input length exceeds the context length")
	}
	s.mu.Lock()
	s.asked = append(s.asked, asked)
	s.mu.Unlock()
	if refusal != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(asked.Refused)
		message, _ := json.Marshal(refusal) // a string always encodes
		_, _ = fmt.Fprintf(w, `{"error":%s}`, message)
		return
	}
	written := s.Write(asked)
	a := s.read(written, asked.Tools, body.Think != false)
	a.cut, a.Usage = OllamaTokens, session.Usage{Input: min(prompt, window), Output: len(OllamaTokens(written)) + 1}
	stream := Chat{}.Encode(a)
	if native {
		stream = Ollama{}.Encode(a)
	}
	w.Header().Set("Content-Type", stream.ContentType)
	_, _ = io.WriteString(w, stream.Body) // the client may be gone
}

// read parses an answer like the server. Text is passed on up to the template's prefix for calls;
// after that only calls to offered tools count. A bracket is a prefix only at the very beginning,
// and text elsewhere.
func (s *OllamaServer) read(text string, offered []string, thinks bool) (a Answer) {
	if _, behind, begun := strings.Cut(text, "<think>"); begun && s.Thinks && thinks {
		a.Reasoning, text, _ = strings.Cut(behind, "</think>")
		text = strings.TrimLeft(text, " \n")
	}
	tag := s.Tag
	if tag == "" {
		tag = "{"
	}
	at := strings.Index(text, tag)
	if len(offered) == 0 || at < 0 || tag == "{" && strings.TrimSpace(text[:at]) != "" {
		a.Text = text
		return a
	}
	var rest string
	for a.Text, rest = text[:at], text[at:]; rest != ""; {
		var call struct {
			Name                  string
			Arguments, Parameters json.RawMessage
		}
		d := json.NewDecoder(strings.NewReader(rest))
		if rest[0] != '{' || d.Decode(&call) != nil || !slices.Contains(offered, call.Name) {
			rest = rest[1:]
			continue
		}
		rest = rest[d.InputOffset():]
		arguments := cmp.Or(string(call.Arguments)+string(call.Parameters), "{}")
		a.Calls = append(a.Calls, Call{fmt.Sprintf("call_%08d", len(a.Calls)), call.Name, arguments})
	}
	if tag == "{" && len(a.Calls) == 0 {
		a.Text = text
	}
	return a
}

// OllamaTokens splits a text like a tokenizer: words with up to six letters and the preceding
// space, single digits and signs, other scripts by two letters, and marks between < and > as one
// token.
func OllamaTokens(text string) []string {
	return regexp.MustCompile(`</?[a-z_]+>|<\|[a-z_]+\|>|\[TOOL_CALLS\]| ?[A-Za-z]{1,6}| ?[^\x00-\x7f]{1,2}|(?s: ?.)`).FindAllString(text, -1)
}
