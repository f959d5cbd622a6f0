package models

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adze/internal/config"
	"adze/session"
	"adze/tool"
)

// request is what a server was asked, of the Chat Completions format and of Ollama's.
type request struct {
	MaxTokens int               `json:"max_tokens"`
	Tools     []json.RawMessage `json:"tools"`
	Messages  []struct {
		Content json.RawMessage `json:"content"`
		Images  []string        `json:"images"`
	} `json:"messages"`
	Options struct {
		Predict int `json:"num_predict"`
	} `json:"options"`
}

// Each setting of a model changes what is sent, on a server that says nothing of its models and on
// an Ollama that says the opposite.
func TestTheSettingsOfAModelReachItsServer(t *testing.T) {
	t.Parallel()
	yes, no := new(true), new(false)
	for name, c := range map[string]struct {
		says string // capabilities at the Ollama
		own  config.Model
		want func(chat, ollama request, blind bool) bool
	}{
		"output": {`["tools"]`, config.Model{Output: 777}, func(chat, ollama request, _ bool) bool {
			return chat.MaxTokens == 777 && ollama.Options.Predict == 777
		}},
		"no output": {`["tools"]`, config.Model{}, func(chat, ollama request, _ bool) bool {
			return chat.MaxTokens == 0 && ollama.Options.Predict == 0
		}},
		"tools": {`["completion"]`, config.Model{Tools: yes}, func(chat, ollama request, _ bool) bool {
			return len(chat.Tools) == 1 && len(ollama.Tools) == 1
		}},
		"no tools": {`["tools"]`, config.Model{Tools: no}, func(chat, ollama request, _ bool) bool {
			return len(chat.Tools)+len(ollama.Tools) == 0 && strings.Contains(string(chat.Messages[0].Content), "tool_call") &&
				strings.Contains(string(ollama.Messages[0].Content), "tool_call")
		}},
		"vision": {`["tools"]`, config.Model{Vision: yes}, func(_, ollama request, blind bool) bool {
			return !blind && len(ollama.Messages[1].Images) == 1
		}},
		"no vision": {`["tools","vision"]`, config.Model{Vision: no}, func(_, ollama request, blind bool) bool {
			return blind && len(ollama.Messages[1].Images) == 0
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked request
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/api/show":
					_, _ = io.WriteString(w, `{"capabilities":`+c.says+`}`)
				case "/api/chat":
					_ = json.NewDecoder(r.Body).Decode(&asked)
					_, _ = io.WriteString(w, `{"message":{"content":"well"},"done":true,"done_reason":"stop"}`+"\n")
				case "/v1/chat/completions":
					_ = json.NewDecoder(r.Body).Decode(&asked)
					_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"well\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
				default:
					http.NotFound(w, r)
				}
			}))
			t.Cleanup(s.Close)
			ask := func(full string) (request, bool) {
				f := finderWith(full, map[string]string{"VLLM_BASE_URL": s.URL + "/v1", "OLLAMA_HOST": s.URL})
				f.config.Models = map[string]config.Model{"vllm/*": c.own, "ollama/q": c.own}
				m, err := f.Choose(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				asked = request{}
				stream(t.Context(), m)
				return asked, f.RejectsImages(m)(m.Provider.Name(), m.Name)
			}
			chat, blind := ask("vllm/q")
			ollama, blindToo := ask("ollama/q")
			if blind != blindToo && c.own.Vision != nil || !c.want(chat, ollama, blind) {
				t.Errorf("blind %v and %v, chat %+v, Ollama %+v", blind, blindToo, chat, ollama)
			}
		})
	}
}

func stream(ctx context.Context, m Model) {
	picture := tool.Attachment{Name: "a.png", MediaType: "image/png", Data: pixel()}
	for range m.Provider.Stream(ctx, session.Request{
		Model: m.Name, System: "you are a test", ToolsDigest: "d",
		Tools: []tool.Definition{{Name: "glob", Description: "Find files.", Parameters: []byte(`{"type":"object","properties":{}}`)}},
		Messages: []session.Message{{ID: "m1", Role: session.User, Parts: []session.Part{
			{Kind: session.TextPart, Text: "look"}, {Kind: session.AttachmentPart, Attachment: &picture},
		}}},
	}) {
		continue
	}
}

// pixel is a PNG of one pixel.
func pixel() []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))) // a buffer takes all
	return b.Bytes()
}
