package ollama_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adze/internal/llm/ollama"
	"adze/session"
	"adze/tool"
)

// A model that cannot see gets a note, and the user is told once, with the answer to it.
func TestAModelWithoutVisionIsSaid(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/show" {
			io.WriteString(w, `{"capabilities":["completion"],"model_info":{}}`)
			return
		}
		io.WriteString(w, `{"message":{"role":"assistant","content":"hm"},"done":true,"done_reason":"stop"}`+"\n")
	}))
	defer s.Close()
	p := ollama.New(ollama.Options{BaseURL: s.URL})
	picture := &tool.Attachment{Name: "a.png", MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	messages := []session.Message{{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.AttachmentPart, Attachment: picture}}}}
	for _, want := range []bool{true, false} {
		for c := range p.Stream(t.Context(), session.Request{Model: "m", Messages: messages}) {
			if done, ok := c.(session.Done); ok && (done.Err != nil || strings.Contains(done.Notice, "takes no pictures") != want) {
				t.Errorf("notice %q, %v", done.Notice, done.Err)
			}
		}
		messages = append(messages, session.Message{ID: "2", Role: session.Assistant, Parts: []session.Part{{Kind: session.TextPart, Text: "hm"}}},
			session.Message{ID: "3", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "and now?"}}})
	}
}
