package openai_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adze/internal/llm/openai"
	"adze/session"
)

func TestFirstLight(t *testing.T) {
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":1}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3}}

data: [DONE]

`)
	}))
	defer server.Close()
	p := openai.New(openai.Options{BaseURL: server.URL})
	var got []session.Chunk
	for c := range p.Stream(context.Background(), session.Request{Model: "m", System: "be", Messages: []session.Message{
		{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "hello <you>"}}},
	}}) {
		got = append(got, c)
	}
	if len(got) != 5 || got[4].(session.Done).Stop != session.StopCalls || got[3].(session.Call).Arguments != `{"path":1}` {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(body, `"messages":[{"role":"system","content":"be"},{"role":"user","content":"hello <you>"}]}`) {
		t.Error(body)
	}
}
