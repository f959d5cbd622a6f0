package cmd_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// pulled is a written Ollama that says what it has.
func pulled(t *testing.T, version, tags, show string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/version":
			fmt.Fprintf(w, `{"version":%q}`, version)
		case "/api/tags":
			io.WriteString(w, tags)
		case "/api/ps":
			io.WriteString(w, `{"models":[]}`)
		case "/api/show":
			io.WriteString(w, show)
		case "/v1/models":
			io.WriteString(w, `{"data":[{"id":"m:latest","owned_by":"library"}]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// The doctor says which program answers behind an address, and why a model of it would be of no
// use.
func TestTheDoctorNamesWhyAServerIsOfNoUse(t *testing.T) {
	const (
		has   = `{"models":[{"name":"m:latest"}]}`
		tools = `{"capabilities":["completion","tools"],"model_info":{"q.context_length":32768}}`
		small = `{"capabilities":["completion","tools"],"model_info":{"q.context_length":4096}}`
		none  = `{"capabilities":["completion"],"model_info":{"q.context_length":32768}}`
	)
	near := func(answers map[string]string) string { return newNear(t, answers).URL }
	list := func(model string) map[string]string {
		return map[string]string{"/v1/models": `{"data":[` + model + `]}`}
	}
	for name, c := range map[string]struct {
		url, path   string
		code        int
		state, says string
	}{
		"an Ollama":                  {pulled(t, "0.17.4", has, tools), "/v1", 0, "ok", "Ollama 0.17.4 answers at"},
		"an Ollama without a model":  {pulled(t, "0.17.4", `{"models":[]}`, tools), "/v1", 3, "fail", "Ollama has no model yet"},
		"an Ollama without this one": {pulled(t, "0.17.4", `{"models":[{"name":"other:latest"}]}`, tools), "/v1", 3, "fail", "ollama pull m"},
		"an old Ollama":              {pulled(t, "0.9.6", has, tools), "/v1", 0, "warn", "since 0.12.6 it refuses them"},
		"a model without tools":      {pulled(t, "0.17.4", has, none), "/v1", 0, "warn", "cannot call tools"},
		"a small context":            {pulled(t, "0.17.4", has, small), "/v1", 0, "warn", "a context of 4096 tokens"},
		"a llama.cpp":                {near(llamaCPP()), "/v1", 0, "ok", "llama.cpp answers at"},
		"a vLLM without this model":  {near(vLLM()), "/v1", 0, "warn", "vLLM answers at"},
		"a small context at vLLM":    {near(list(`{"id":"m","owned_by":"vllm","max_model_len":2048}`)), "/v1", 0, "warn", "start vLLM with a larger --max-model-len"},
		"no model at all":            {near(list("")), "/v1", 0, "warn", "and has no model"},
		"an address without version": {near(list(`{"id":"m"}`)), "", 3, "fail", "write the address with its version"},
		"a page":                     {near(map[string]string{"/v1/models": "<html><title>Welcome</title>"}), "/v1", 4, "fail", "HTML page"},
		"no list":                    {near(nil), "/v1", 0, "ok", "does not list its models"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.configure(`{"model": "openai/m"}`)
			u.env = append(u.env, "OPENAI_BASE_URL="+c.url+c.path)
			u.doctor(c.code).wants(t, "server", c.state, c.says)
		})
	}
}

// A start without a model says why what runs here is of no use.
func TestARunNamesWhyAServerIsOfNoUse(t *testing.T) {
	poet := `{"capabilities":["completion"]}`
	for name, c := range map[string]struct{ env, says string }{
		"no model pulled": {"OLLAMA_HOST=" + pulled(t, "0.17.4", `{"models":[]}`, poet), "Ollama runs, but it has no model yet: ollama pull"},
		"no tools":        {"OLLAMA_HOST=" + pulled(t, "0.17.4", `{"models":[{"name":"poet:7b"}]}`, poet), "poet:7b cannot call tools"},
		"a page":          {"VLLM_BASE_URL=" + newNear(t, map[string]string{"/v1/models": "<html>"}).URL + "/v1", "what answers where vLLM would run cannot be used"},
		"nothing loaded":  {"LMSTUDIO_BASE_URL=" + newNear(t, map[string]string{"/api/v1/models": `{"models":[]}`}).URL + "/v1", "LM Studio runs, but no model is loaded"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.env = append(u.env, c.env)
			r := u.run("-p", "hi").wants(3, "no model is configured", c.says)
			if strings.Contains(r.err, "connection refused") {
				t.Errorf("it tells of what does not run: %s", r.err)
			}
		})
	}
}
