package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// OllamaServer is an Ollama as its clients see it: what a model writes goes through the server's
// own parser of calls, which drops a call of a name that was not offered, and is counted in tokens
// whether or not it is sent. It has the native format, the chat format that is compatible with
// OpenAI, and the requests that ask for no answer.
//
// Set the fields before Start; the methods are safe for concurrent use.
type OllamaServer struct {
	*httptest.Server

	Model    string // the one model that it has
	Tag      string // how the model's template begins a call; if empty, "{"
	Context  int    // what the model was trained for, in tokens; if 0, 32768
	Default  int    // num_ctx of a request that names none; if 0, 4096
	NoTools  bool   // the template of the model has no tools
	Thinks   bool   // the model thinks between <think> and </think>, which the server takes out
	Parallel int    // requests that it answers beside each other; if 0, 1
	Queue    int    // requests that may wait; if 0, 512
	// Write is what the model writes for a request, with all its marks.
	Write func(OllamaRequest) string
	// Hidden has it deny its own addresses, as behind a gateway; Silent has it answer no question
	// about itself.
	Hidden, Silent atomic.Bool
	HideVersion    atomic.Bool // it does not say that it is an Ollama
	// Piece is how many tokens a record of the stream has; if 0, 1.
	Piece int

	slots chan struct{}
	mu    sync.Mutex
	asked []OllamaRequest
	queue int
}

// OllamaRequest is a request for an answer.
type OllamaRequest struct {
	Path     string
	Model    string
	Tools    []string
	Context  int
	Prompt   int // tokens that were sent
	Cut      bool
	Refused  int // the HTTP status of a refusal; if 0, it was answered
	Messages []OllamaMessage
	Body     string
}

// OllamaMessage is one message of a request.
type OllamaMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Tool    string `json:"tool_name"`
	Calls   []any  `json:"tool_calls"`
}

// Start begins to serve; the caller closes the server.
func (s *OllamaServer) Start() *OllamaServer {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/version", s.text(`{"version":"0.17.4"}`))
	mux.HandleFunc("GET /v1/models", s.text(fmt.Sprintf(`{"object":"list","data":[{"id":%q,"object":"model","created":1,"owned_by":"library"}]}`, s.Model)))
	mux.HandleFunc("GET /api/tags", s.text(fmt.Sprintf(`{"models":[{"name":%q,"model":%[1]q,"size":5000000000,"details":{"parameter_size":"8B"}}]}`, s.Model)))
	mux.HandleFunc("GET /api/ps", s.text(fmt.Sprintf(`{"models":[{"name":%q,"context_length":%d}]}`, s.Model, s.window())))
	mux.HandleFunc("POST /api/show", s.show)
	mux.HandleFunc("POST /api/chat", s.chat)
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	s.slots = make(chan struct{}, max(1, s.Parallel))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.Silent.Load() && r.Method == http.MethodGet:
			<-r.Context().Done()
		case s.HideVersion.Load() && r.URL.Path == "/api/version":
			http.NotFound(w, r)
		case s.Hidden.Load() && strings.HasPrefix(r.URL.Path, "/api/"):
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

func (s *OllamaServer) text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func (s *OllamaServer) window() int {
	if s.Default > 0 {
		return s.Default
	}
	return 4096
}

func (s *OllamaServer) trained() int {
	if s.Context > 0 {
		return s.Context
	}
	return 32768
}

// refuse answers with an error as Ollama words it.
func refuse(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	message, _ := json.Marshal(fmt.Sprintf(format, args...)) // a string always encodes
	_, _ = fmt.Fprintf(w, `{"error":%s}`, message)
}

func (s *OllamaServer) show(w http.ResponseWriter, r *http.Request) {
	var body struct{ Model string }
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Model != s.Model {
		refuse(w, http.StatusNotFound, "model '%s' not found", body.Model)
		return
	}
	abilities := []string{"completion"}
	if !s.NoTools {
		abilities = append(abilities, "tools")
	}
	if s.Thinks {
		abilities = append(abilities, "thinking")
	}
	list, _ := json.Marshal(abilities) // strings always encode
	s.text(fmt.Sprintf(`{"template":"{{ .Prompt }}","capabilities":%s,"model_info":{"general.architecture":"llama","llama.context_length":%d}}`, list, s.trained()))(w, r)
}

// chatBody is a request of either format.
type chatBody struct {
	Model    string
	Stream   *bool
	Truncate *bool
	Think    any
	Tools    []struct {
		Function struct {
			Name       string
			Parameters struct{ Properties map[string]any }
		}
	}
	Messages []OllamaMessage
	Options  struct {
		Context int `json:"num_ctx"`
		Predict int `json:"num_predict"`
	}
}

// chat answers a request of either format.
func (s *OllamaServer) chat(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body) // what is cut does not decode
	var body chatBody
	if err := json.Unmarshal(raw, &body); err != nil {
		refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	native := r.URL.Path == "/api/chat"
	asked := OllamaRequest{Path: r.URL.Path, Model: body.Model, Context: s.window(), Messages: body.Messages, Body: string(raw)}
	for _, t := range body.Tools {
		asked.Tools = append(asked.Tools, t.Function.Name)
	}
	if native && body.Options.Context > 0 {
		asked.Context = min(body.Options.Context, s.trained())
	}
	asked.Prompt = len(OllamaTokens(string(raw)))
	refused := func(status int, format string, args ...any) {
		asked.Refused = status
		s.note(asked)
		refuse(w, status, format, args...)
	}
	switch {
	case body.Model != s.Model:
		refused(http.StatusNotFound, "model '%s' not found", body.Model)
		return
	case len(body.Tools) > 0 && s.NoTools:
		refused(http.StatusBadRequest, "registry.ollama.ai/library/%s does not support tools", s.Model)
		return
	case !s.enter(r):
		refused(http.StatusServiceUnavailable, "server busy, please try again.  maximum pending requests exceeded")
		return
	}
	defer func() { <-s.slots }()
	if asked.Prompt > asked.Context {
		if native && body.Truncate != nil && !*body.Truncate {
			refused(http.StatusBadRequest, "the input length exceeds the context length")
			return
		}
		asked.Cut, asked.Prompt = true, asked.Context // its front is dropped in silence
	}
	s.note(asked)
	s.answer(w, native, asked, body)
}

// enter waits for a slot; if false, too many wait.
func (s *OllamaServer) enter(r *http.Request) bool {
	most := s.Queue
	if most == 0 {
		most = 512
	}
	s.mu.Lock()
	if s.queue >= most {
		s.mu.Unlock()
		return false
	}
	s.queue++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.queue--
		s.mu.Unlock()
	}()
	select {
	case s.slots <- struct{}{}:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (s *OllamaServer) note(r OllamaRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
}

// answer sends what the model writes, token by token, through the parsers of thoughts and calls.
func (s *OllamaServer) answer(w http.ResponseWriter, native bool, asked OllamaRequest, body chatBody) {
	tokens := OllamaTokens(s.Write(asked))
	reason := "stop"
	if most := body.Options.Predict; most > 0 && len(tokens) > most {
		tokens, reason = tokens[:most], "length"
	}
	out := &ollamaReply{w: w, native: native, model: s.Model, stream: body.Stream == nil || *body.Stream}
	var tools *ollamaTools
	if len(body.Tools) > 0 {
		tools = newOllamaTools(s.Tag, body)
	}
	var thought *ollamaThought
	if s.Thinks && body.Think != false {
		thought = &ollamaThought{}
	}
	piece := max(1, s.Piece)
	for at := 0; at < len(tokens); at += piece {
		text, thinking := strings.Join(tokens[at:min(at+piece, len(tokens))], ""), ""
		if thought != nil {
			thinking, text = thought.add(text)
		}
		var calls []ollamaCall
		if tools != nil {
			calls, text = tools.add(text)
			if text != "" {
				calls = nil // a record holds words or calls; with both, the server sends the words
			}
		}
		out.record(text, thinking, calls)
	}
	rest := ""
	if tools != nil {
		rest = tools.rest()
	}
	out.end(rest, reason, asked.Prompt, len(tokens)+1)
}

// OllamaTokens splits a text as a tokenizer might: words of up to six letters with the space before
// them, digits and signs one by one, other scripts two letters at a time, and marks between < and >
// as one.
func OllamaTokens(text string) []string {
	var out []string
	for text != "" {
		n := tokenLength(text)
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

func tokenLength(text string) int {
	for _, mark := range []string{"<tool_call>", "</tool_call>", "<think>", "</think>", "[TOOL_CALLS]", "<|im_end|>", "<|python_tag|>"} {
		if strings.HasPrefix(text, mark) {
			return len(mark)
		}
	}
	n := 0
	if text[0] == ' ' && len(text) > 1 {
		n = 1
	}
	start := n
	for n < len(text) && n-start < 6 && (text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
		n++
	}
	if n > start {
		return n
	}
	if text[n] < utf8.RuneSelf {
		return n + 1
	}
	for range 2 {
		if n < len(text) && text[n] >= utf8.RuneSelf {
			_, size := utf8.DecodeRuneInString(text[n:])
			n += size
		}
	}
	return n
}

// ollamaCall is a call that the server understood.
type ollamaCall struct {
	name      string
	arguments map[string]any
}

// ollamaReply writes an answer in one of the formats.
type ollamaReply struct {
	w      http.ResponseWriter
	native bool
	stream bool
	model  string
	calls  int
	whole  struct {
		text, thinking string
		calls          []any
	}
}

func (o *ollamaReply) record(text, thinking string, calls []ollamaCall) {
	if text == "" && thinking == "" && len(calls) == 0 {
		return
	}
	o.send(text, thinking, calls, nil)
}

func (o *ollamaReply) end(text, reason string, prompt, output int) {
	o.send(text, "", nil, map[string]any{"reason": reason, "prompt": prompt, "output": output})
}

func (o *ollamaReply) send(text, thinking string, calls []ollamaCall, end map[string]any) {
	var list []any
	for _, c := range calls {
		id := fmt.Sprintf("call_%08d", o.calls)
		if o.native {
			list = append(list, map[string]any{"id": id, "function": map[string]any{"index": o.calls, "name": c.name, "arguments": c.arguments}})
		} else {
			text, _ := json.Marshal(c.arguments) // it came from JSON
			list = append(list, map[string]any{"id": id, "index": o.calls, "type": "function", "function": map[string]any{"name": c.name, "arguments": string(text)}})
		}
		o.calls++
	}
	if !o.stream {
		o.whole.text += text
		o.whole.thinking += thinking
		o.whole.calls = append(o.whole.calls, list...)
		if end == nil {
			return
		}
		text, thinking, list = o.whole.text, o.whole.thinking, o.whole.calls
	}
	if o.native {
		o.line("", o.nativeRecord(text, thinking, list, end))
	} else {
		o.compatible(text, thinking, list, end)
	}
	if f, ok := o.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (o *ollamaReply) nativeRecord(text, thinking string, calls []any, end map[string]any) map[string]any {
	message := map[string]any{"role": "assistant", "content": text}
	if thinking != "" {
		message["thinking"] = thinking
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	record := map[string]any{"model": o.model, "created_at": "2026-11-23T21:00:00Z", "message": message, "done": end != nil}
	if end != nil {
		record["done_reason"], record["prompt_eval_count"], record["eval_count"] = end["reason"], end["prompt"], end["output"]
		record["total_duration"], record["load_duration"] = 5, 1
	}
	return record
}

func (o *ollamaReply) compatible(text, thinking string, calls []any, end map[string]any) {
	delta := map[string]any{"role": "assistant", "content": text}
	if thinking != "" {
		delta["reasoning"] = thinking
	}
	if len(calls) > 0 {
		delta["tool_calls"] = calls
	}
	choice := map[string]any{"index": 0, "delta": delta, "finish_reason": nil}
	if end != nil {
		choice["finish_reason"] = end["reason"]
		if o.calls > 0 {
			choice["finish_reason"] = "tool_calls"
		}
	}
	o.w.Header().Set("Content-Type", "text/event-stream")
	o.line("data: ", map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": o.model, "choices": []any{choice}})
	if end != nil {
		prompt, output := end["prompt"].(int), end["output"].(int)
		o.line("data: ", map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": o.model, "choices": []any{},
			"usage": map[string]int{"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}})
		_, _ = io.WriteString(o.w, "data: [DONE]\n\n")
	}
}

func (o *ollamaReply) line(prefix string, value any) {
	raw, _ := json.Marshal(value) // all of it is made here
	end := "\n"
	if prefix != "" {
		end = "\n\n"
	}
	_, _ = io.WriteString(o.w, prefix+string(raw)+end)
}
