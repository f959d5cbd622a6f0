package local_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"adze/internal/llm/local"
	"adze/internal/llm/wire"
)

// A process asks a server that another process has just asked once, and asks all again where the
// answer is another one or old. llama.cpp writes the time of the answer into its list.
func TestServersAreAskedOnce(t *testing.T) {
	var asked atomic.Int64
	list := `{"data":[{"id":"a","owned_by":"llamacpp","created":1}]}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch r.URL.Path {
		case "/v1/models":
			_, _ = w.Write([]byte(list))
		case "/props":
			_, _ = w.Write([]byte(`{"default_generation_settings":{"n_ctx":4096}}`))
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "findings.json")
	for _, step := range []struct {
		name, list string
		after      time.Duration
		want       int64 // at most
		context    int
	}{
		{"first", list, 0, 9, 4096},
		{"again", `{"data":[{"id":"a","owned_by":"llamacpp","created":2}]}`, time.Minute, 1, 4096},
		{"another list", `{"data":[{"id":"b","owned_by":"llamacpp"}]}`, 0, 9, 4096},
		{"later", `{"data":[{"id":"b","owned_by":"llamacpp"}]}`, time.Hour, 9, 4096},
	} {
		now, list = now.Add(step.after), step.list
		asked.Store(0)
		f := local.Server{Name: "s", Base: s.URL + "/v1", Patience: time.Minute}.Recall(t.Context(), wire.NewFindings(path, func() time.Time { return now }))
		if n := asked.Load(); f.Kind != local.LlamaCPP || len(f.Models) != 1 || f.Models[0].Context != step.context || (n == 1) != (step.want == 1) {
			t.Errorf("%s: %+v after %d questions", step.name, f, n)
		}
	}
}
