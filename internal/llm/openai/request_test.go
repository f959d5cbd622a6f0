package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/llm/openai"
	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// transport answers each request with the next of its responses and keeps what was asked.
type transport struct {
	responses []func() *http.Response
	bodies    []string
	headers   []http.Header
	urls      []string
}

func (tr *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	n := min(len(tr.bodies), len(tr.responses)-1)
	tr.bodies, tr.headers, tr.urls = append(tr.bodies, string(body)), append(tr.headers, r.Header), append(tr.urls, r.URL.String())
	return tr.responses[n](), nil
}

func respond(status int, body string) func() *http.Response {
	return func() *http.Response {
		rec := httptest.NewRecorder()
		rec.Header().Set("Content-Type", "text/event-stream")
		rec.WriteHeader(status)
		_, _ = rec.WriteString(body)
		return rec.Result()
	}
}

const fine = `data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"

func last(p session.Provider, r session.Request) session.Done {
	var done session.Done
	for c := range p.Stream(context.Background(), r) {
		if d, ok := c.(session.Done); ok {
			done = d
		}
	}
	return done
}

func TestHostedAndCompatibleServersDiffer(t *testing.T) {
	pdf := session.Message{ID: "1", Role: session.User, Parts: []session.Part{
		{Kind: session.TextPart, Text: "read this"},
		{Kind: session.AttachmentPart, Attachment: &tool.Attachment{Name: "a.pdf", MediaType: "application/pdf", Data: []byte("%PDF")}},
	}}
	thought := session.Message{ID: "2", Role: session.Assistant, Provider: "openai", Parts: []session.Part{
		{Kind: session.ReasoningPart, Text: "hm"},
		{Kind: session.CallPart, Call: &tool.RawCall{ID: "a", Name: "read", Opaque: json.RawMessage(`{"google":{}}`)}},
	}}
	for _, c := range []struct {
		base, url   string
		have, avoid []string
	}{
		{"", "https://api.openai.com/v1/chat/completions",
			[]string{`"max_completion_tokens":77`, `"file_data":"data:application/pdf;base64,JVBERg=="`},
			[]string{`"max_tokens"`, `"reasoning_content"`}},
		{"http://local.test:8080/v1/", "http://local.test:8080/v1/chat/completions",
			[]string{`"max_tokens":77`, `[attachment a.pdf (application/pdf, 4 bytes) cannot be shown to this model]`,
				`"reasoning_content":"hm"`, `"extra_content":{"google":{}}`},
			[]string{`"max_completion_tokens"`, `"file_data"`}},
	} {
		tr := &transport{responses: []func() *http.Response{respond(200, fine)}}
		p := openai.New(openai.Options{BaseURL: c.base, Key: "sk-12345678", HTTP: &http.Client{Transport: tr}})
		r := session.Request{Model: "m", MaxTokens: 77, Messages: []session.Message{pdf, thought}}
		if done := last(p, r); done.Err != nil {
			t.Fatal(done.Err)
		}
		if tr.urls[0] != c.url || tr.headers[0].Get("Authorization") != "Bearer sk-12345678" {
			t.Errorf("%s with %v", tr.urls[0], tr.headers[0])
		}
		for _, s := range c.have {
			if !strings.Contains(tr.bodies[0], s) {
				t.Errorf("no %s in %s", s, tr.bodies[0])
			}
		}
		for _, s := range c.avoid {
			if strings.Contains(tr.bodies[0], s) {
				t.Errorf("%s in %s", s, tr.bodies[0])
			}
		}
	}
}

func TestServerThatRefusesStreamOptionsIsAskedWithout(t *testing.T) {
	tr := &transport{responses: []func() *http.Response{
		respond(400, `{"error":{"message":"Unrecognized request argument: stream_options","type":"invalid_request_error"}}`),
		respond(200, fine),
	}}
	p := openai.New(openai.Options{BaseURL: "http://old.test/v1", HTTP: &http.Client{Transport: tr}})
	for range 2 {
		if done := last(p, session.Request{Model: "m"}); done.Err != nil {
			t.Fatal(done.Err)
		}
	}
	if len(tr.bodies) != 3 || !strings.Contains(tr.bodies[0], "stream_options") ||
		strings.Contains(tr.bodies[1]+tr.bodies[2], "stream_options") {
		t.Errorf("asked %d times: %v", len(tr.bodies), tr.bodies)
	}
	if _, set := tr.headers[0]["Authorization"]; set {
		t.Error("an Authorization header without a key")
	}
}

// slow is a body whose tail never comes.
type slow struct {
	text string
	ctx  context.Context
}

func (s *slow) Read(p []byte) (int, error) {
	if s.text == "" {
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	n := copy(p, s.text)
	s.text = s.text[n:]
	return n, nil
}

func (s *slow) Close() error { return nil }

type slowTransport struct{ text string }

func (tr slowTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: &slow{tr.text, r.Context()}, Request: r}, nil
}

// A server that says why it finished, but never [DONE], keeps nobody waiting for the idle timeout.
func TestMissingTailIsNotAwaitedLong(t *testing.T) {
	finished := `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\n"
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := openai.New(openai.Options{HTTP: &http.Client{Transport: slowTransport{finished}}})
		if done := last(p, session.Request{Model: "m"}); done.Stop != session.StopCalls || time.Since(start) > 3*time.Second {
			t.Errorf("%+v after %v", done, time.Since(start))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p := openai.New(openai.Options{HTTP: &http.Client{Transport: slowTransport{finished}}})
		for c := range p.Stream(ctx, session.Request{Model: "m"}) {
			switch c := c.(type) {
			case session.Call:
				t.Error("a call was released after the context had ended")
			case session.Done:
				if c.Stop != session.StopAborted || !errors.Is(c.Err, context.DeadlineExceeded) {
					t.Errorf("%+v", c)
				}
			}
		}
	})
}

// A server that knows the bound of an answer by its other name is asked again with that, and
// remembered.
func TestTheBoundOfAnAnswerByItsOtherName(t *testing.T) {
	for base, c := range map[string][3]string{
		"http://a.test/v1": {"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", `"max_tokens":7`, `"max_completion_tokens":7`},
		"":                 {"Unrecognized request argument supplied: max_completion_tokens", `"max_completion_tokens":7`, `"max_tokens":7`},
	} {
		refusal := respond(400, `{"error":{"message":`+string(wire.JSON(c[0]))+`,"type":"invalid_request_error","code":"unsupported_parameter"}}`)
		last, tr := asked(t, openai.Options{Name: "p", BaseURL: base}, session.Request{Model: "m", MaxTokens: 7}, refusal, respond(200, fine), respond(200, fine))
		if len(tr.bodies) != 3 || !strings.Contains(tr.bodies[0], c[1]) || !strings.Contains(tr.bodies[1], c[2]) || !strings.Contains(last, c[2]) {
			t.Errorf("%q: %d requests, %s", base, len(tr.bodies), last)
		}
	}
}
