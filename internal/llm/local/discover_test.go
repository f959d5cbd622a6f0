package local_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/llm/local"
	"adze/session"
)

// serve answers each address, with its query, by the text of a case; a status other than 200 stands
// before it.
func serve(t *testing.T, answers map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := answers[r.URL.RequestURI()]
		if !ok {
			text = "404 page not found"
			w.WriteHeader(http.StatusNotFound)
		}
		var status int
		if n, _ := fmt.Sscanf(text, "%d ", &status); n == 1 && ok {
			w.WriteHeader(status)
			_, text, _ = strings.Cut(text, " ")
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

// told writes a model as a case does: only what is known.
func told(m local.Model) string {
	var out []string
	add := func(is bool, format string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	out = append(out, m.Name)
	add(m.Context > 0, "runs %d", m.Context)
	add(m.Trained > 0, "trained %d", m.Trained)
	add(m.Output > 0, "output %d", m.Output)
	add(m.Size > 0, "%d bytes", m.Size)
	for _, f := range []struct {
		name string
		is   *bool
	}{{"tools", m.Tools}, {"vision", m.Vision}, {"thinking", m.Thinking}, {"loaded", m.Loaded}} {
		add(f.is != nil && *f.is, "%s", f.name)
		add(f.is != nil && !*f.is, "no %s", f.name)
	}
	add(m.Input != nil, "$%v", value(m.Input))
	add(m.Answer != nil, "$%v", value(m.Answer))
	return strings.Join(out, ", ")
}

func value(f *float64) float64 {
	if f == nil {
		return -1
	}
	return *f
}

func TestWhatServersTell(t *testing.T) {
	const llamaList = `{"object":"list","data":[{"id":"qwen","object":"model","owned_by":"llamacpp","meta":{"n_ctx_train":131072,"n_params":8030261312,"size":4912898304}}]}`
	for name, c := range map[string]struct {
		kind    local.Kind
		answers map[string]string
		want    []string
	}{
		"llama.cpp": {local.LlamaCPP, map[string]string{"/v1/models": llamaList,
			"/props": `{"default_generation_settings":{"n_ctx":16384},"total_slots":4,"chat_template":"{% if enable_thinking %}","chat_template_caps":{"supports_tools":true,"supports_tool_calls":true},"modalities":{"vision":false,"audio":false}}`,
		}, []string{"qwen, runs 16384, trained 131072, 4912898304 bytes, tools, no vision, thinking, loaded"}},
		"llama.cpp whose template takes no tools": {local.LlamaCPP, map[string]string{"/v1/models": llamaList,
			"/props": `{"default_generation_settings":{"n_ctx":4096},"chat_template_caps":{"supports_tools":false}}`,
		}, []string{"qwen, runs 4096, trained 131072, 4912898304 bytes, no tools, loaded"}},
		"llama.cpp before it told what a template can": {local.LlamaCPP, map[string]string{"/v1/models": llamaList,
			"/props": `{"default_generation_settings":{"n_ctx":4096},"chat_template":"{%- if tools %}"}`,
		}, []string{"qwen, runs 4096, trained 131072, 4912898304 bytes, tools, no thinking, loaded"}},
		"llama.cpp without properties":          {local.LlamaCPP, map[string]string{"/v1/models": `{"data":[{"id":"q","meta":null}]}`}, []string{"q"}},
		"llama.cpp with garbage for properties": {local.LlamaCPP, map[string]string{"/v1/models": `{"data":[{"id":"q"}]}`, "/props": `<html>`}, []string{"q"}},
		"llama.cpp with several models": {local.LlamaCPP, map[string]string{
			"/v1/models":                             `{"data":[{"id":"a/b:Q4","status":{"value":"loaded"}},{"id":"c","status":{"value":"unloaded"}}]}`,
			"/props":                                 `{"default_generation_settings":{"n_ctx":0}}`,
			"/props?autoload=false&model=a%2Fb%3AQ4": `{"default_generation_settings":{"n_ctx":8192},"chat_template_caps":{"supports_tools":true}}`,
		}, []string{"a/b:Q4, runs 8192, tools, loaded", "c, no loaded"}},
		"LM Studio": {local.LMStudio, map[string]string{"/api/v1/models": `{"models":[
			{"type":"llm","key":"openai/gpt-oss-20b","params_string":"20B","size_bytes":12000,"loaded_instances":[{"id":"other","config":{"context_length":4096}},{"id":"openai/gpt-oss-20b","config":{"context_length":8192}}],"max_context_length":131072,"capabilities":{"vision":false,"trained_for_tool_use":true,"reasoning":{"default":"low"}}},
			{"type":"llm","key":"poet","loaded_instances":[],"max_context_length":4096,"capabilities":{"vision":true,"trained_for_tool_use":false}},
			{"type":"embedding","key":"nomic","max_context_length":2048}]}`,
		}, []string{"openai/gpt-oss-20b, runs 8192, trained 131072, 12000 bytes, tools, no vision, thinking, loaded", "poet, trained 4096, no tools, vision, no loaded"}},
		"LM Studio before 0.4": {local.LMStudio, map[string]string{
			"/api/v1/models": `{"error":"Unexpected endpoint or method. (GET /api/v1/models)"}`,
			"/api/v0/models": `{"object":"list","data":[{"id":"q","type":"llm","state":"loaded","max_context_length":131072,"loaded_context_length":8192,"capabilities":["tool_use"]},
				{"id":"v","type":"vlm","state":"not-loaded","max_context_length":32768},{"id":"e","type":"embeddings","state":"not-loaded"}]}`,
		}, []string{"q, runs 8192, trained 131072, tools, loaded", "v, trained 32768, vision, no loaded"}},
		"LM Studio that only lists names": {local.LMStudio, map[string]string{"/v1/models": `{"data":[{"id":"q","object":"model"}]}`}, []string{"q"}},
		"vLLM": {local.VLLM, map[string]string{"/v1/models": `{"object":"list","data":[{"id":"Qwen/Qwen3-8B","object":"model","owned_by":"vllm","root":"Qwen/Qwen3-8B","parent":null,"max_model_len":40960,"permission":[{}]}]}`},
			[]string{"Qwen/Qwen3-8B, runs 40960"}},
		"OpenRouter": {local.Any, map[string]string{"/v1/models": `{"data":[{"id":"x/y","context_length":200000,"architecture":{"input_modalities":["text","image"]},"pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003"},"top_provider":{"max_completion_tokens":64000},"supported_parameters":["tools","reasoning"]}]}`},
			[]string{"x/y, runs 200000, output 64000, tools, vision, thinking, $3, $15"}},
		"Groq":    {local.Any, map[string]string{"/v1/models": `{"data":[{"id":"llama","active":true,"context_window":131072,"max_completion_tokens":32768}]}`}, []string{"llama, runs 131072, output 32768"}},
		"Mistral": {local.Any, map[string]string{"/v1/models": `{"data":[{"id":"m","max_context_length":131072,"capabilities":{"function_calling":true,"vision":false}}]}`}, []string{"m, trained 131072, tools, no vision"}},
		"Gemini": {local.Any, map[string]string{"/v1/models": `{"models":[{"name":"models/gemini-x","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent"],"thinking":true},{"name":"models/embed","supportedGenerationMethods":["embedContent"]}]}`},
			[]string{"gemini-x, runs 1048576, output 65536, thinking"}},
		"a bare list":                {local.Any, map[string]string{"/v1/models": ` [{"id":"t","context_length":4096}]`}, []string{"t, runs 4096"}},
		"an empty list":              {local.Any, map[string]string{"/v1/models": `{"data":[]}`}, nil},
		"entries of another shape":   {local.Any, map[string]string{"/v1/models": `{"data":["a",7,null,{"id":"ok","context_length":"many","capabilities":"all","pricing":[],"meta":3},{"id":{}}]}`}, []string{"ok"}},
		"numbers that nobody trusts": {local.Any, map[string]string{"/v1/models": `{"data":[{"id":"a","context_length":-5},{"id":"b","context_length":1e300},{"id":"c","max_model_len":0.5}]}`}, []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.answers)
			models, err := local.Server{Kind: c.kind, Name: "it", Base: s.URL + "/v1/"}.Models(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range models {
				got = append(got, told(m))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}

func TestServersThatTellNothing(t *testing.T) {
	const key = "sk-never-shown-to-anybody"
	for name, c := range map[string]struct {
		answer string
		kind   session.ErrorKind
		says   string
	}{
		"HTML":               {"<!DOCTYPE html><html><title>Hello</title>", session.BadResponse, "HTML page"},
		"garbage":            {"\x00\x01 not JSON", session.BadResponse, "malformed"},
		"nothing":            {"", session.BadResponse, "malformed"},
		"JSON of others":     {`{"status":"ok"}`, session.BadResponse, "malformed"},
		"a refused key":      {`401 {"error":{"message":"wrong key ` + key + `"}}`, session.AuthError, "wrong key [masked]"},
		"another program":    {"404 page not found", session.RequestError, "page not found"},
		"an error in a list": {`{"error":{"message":"overheated by ` + key + `"}}`, session.ServerError, "overheated by [masked]"},
		"still loading":      {`503 {"error":{"message":"Loading model"}}`, session.ServerError, "Loading model"},
		"a redirect":         {`302 elsewhere`, session.RequestError, "redirects"},
	} {
		for _, kind := range []local.Kind{local.Any, local.LlamaCPP, local.LMStudio, local.VLLM} {
			t.Run(name+" "+string(kind), func(t *testing.T) {
				t.Parallel()
				s := serve(t, map[string]string{"/v1/models": c.answer, "/props": c.answer, "/api/v1/models": c.answer, "/api/v0/models": c.answer})
				_, err := local.Server{Kind: kind, Name: "it", Base: s.URL + "/v1", Secret: key, KeyHint: "mend the key", URLHint: "mend the address"}.Models(t.Context())
				var failed *session.ProviderError
				if !errors.As(err, &failed) || failed.Kind != c.kind || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("err = %#v, want %s with %q", err, c.kind, c.says)
				}
				if strings.Contains(err.Error()+failed.Hint, key) {
					t.Errorf("the key was shown: %v", err)
				}
			})
		}
	}
}

func TestAListWithoutEndIsCut(t *testing.T) {
	sent := make(chan int, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := 0
		for range 100 { // 100 MB, unless the reader leaves
			k, err := w.Write(make([]byte, 1<<20))
			if n += k; err != nil {
				break
			}
		}
		sent <- n
	}))
	defer s.Close()
	_, err := local.Server{Name: "it", Base: s.URL + "/v1", Patience: time.Minute}.Models(t.Context())
	if err == nil || !strings.Contains(err.Error(), "more than 8 MiB") {
		t.Errorf("err = %v", err)
	}
	if n := <-sent; n > 50<<20 {
		t.Errorf("%d bytes were taken", n)
	}
}

func TestAServerThatNeverEndsIsLeft(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"data":[`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	for _, kind := range []local.Kind{local.Any, local.LlamaCPP, local.LMStudio} {
		_, err := local.Server{Kind: kind, Name: "it", Base: s.URL + "/v1", Patience: 20 * time.Millisecond}.Models(t.Context())
		var failed *session.ProviderError
		if !errors.As(err, &failed) || failed.Kind != session.NetworkError || !strings.Contains(err.Error(), "in time") && !strings.Contains(err.Error(), "sent nothing") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (local.Server{Name: "it", Base: s.URL + "/v1"}).Models(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
}

func TestNobodyListens(t *testing.T) {
	for _, kind := range []local.Kind{local.Any, local.LlamaCPP, local.LMStudio} {
		_, err := local.Server{Kind: kind, Name: "it", Base: "http://127.0.0.1:1/v1", URLHint: "start it"}.Models(t.Context())
		var failed *session.ProviderError
		if !errors.As(err, &failed) || failed.Kind != session.NetworkError || failed.Hint != "start it" {
			t.Errorf("%s: %#v", kind, err)
		}
	}
}
