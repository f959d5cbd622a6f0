package models

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"adze/internal/config"
)

// A server of one's own says what its model sees; the table says it of others, the user's word
// goes before both, and of what nobody tells nothing is known.
func TestBlindModelsAreKnown(t *testing.T) {
	for vision, want := range map[string]bool{`{"vision":false}`: true, `{"vision":true}`: false, `null`: false} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/props" {
				_, _ = io.WriteString(w, `{"default_generation_settings":{"n_ctx":4096},"modalities":`+vision+`}`)
				return
			}
			_, _ = io.WriteString(w, `{"data":[{"id":"q"}]}`)
		}))
		defer s.Close()
		f := finderWith("llamacpp/q", map[string]string{"LLAMACPP_BASE_URL": s.URL + "/v1"})
		m, err := f.Choose(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		blind := f.RejectsImages(m)
		if got := blind("llamacpp", "q"); got != want {
			t.Errorf("%s: blind %v", vision, got)
		}
		if blind("anthropic", "claude-opus-5") || blind("openai", "nobody-knows") {
			t.Error("another model is taken for blind")
		}
		f.config.Models = map[string]config.Model{"llamacpp/q": {Vision: new(true)}}
		if f.RejectsImages(m)("llamacpp", "q") {
			t.Error("the person's word does not count")
		}
	}
}
