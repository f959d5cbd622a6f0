package conformance_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"adze/internal/testkit/effort"
	"adze/session"
	"adze/tool"
)

// samples are answers that every format can tell.
func samples() map[string]Answer {
	usage := session.Usage{Input: 11, Output: 7}
	return map[string]Answer{
		"text":      {Text: "Hello, wörld 𝄞 <b>&amp;</b>\nline two", Usage: usage},
		"reasoning": {Reasoning: "Let me think… 思考", Text: "Done.", Usage: usage},
		"call":      {Calls: []Call{{ID: "call_a", Name: "read", Arguments: `{"path":"a.txt","limit":2}`}}, Usage: usage},
		"no arguments": {
			Text: "I look.", Calls: []Call{{ID: "call_a", Name: "todoread", Arguments: `{}`}}, Usage: usage,
		},
		"parallel": {Reasoning: "Two at once.", Text: "Both.", Calls: []Call{
			{ID: "call_a", Name: "read", Arguments: `{"path":"ä\n\"q\" \\ 𝄞"}`},
			{ID: "call_b", Name: "grep", Arguments: `{"pattern":"func \\w+","n":[1,2.50,1e3],"deep":{"b":1,"a":null}}`},
			{ID: "call_c", Name: "list", Arguments: `{"path":"."}`},
		}, Usage: usage},
		"large": {Calls: []Call{{ID: "call_a", Name: "write", Arguments: `{"content":"` + strings.Repeat("0123456789", 20_000) + `"}`}}},
		"cut":   {Text: "I was go", Calls: []Call{{ID: "call_a", Name: "read", Arguments: `{"path":"a"}`}}, Length: true},
	}
}

// small has everything once, because the tests with it read it once for each of its bytes.
func small() Answer {
	return Answer{Reasoning: "思", Text: "ä𝄞", Calls: []Call{
		{ID: "call_a", Name: "read", Arguments: `{"path":"ü"}`}, {ID: "call_b", Name: "list", Arguments: `{}`},
	}, Usage: session.Usage{Input: 11, Output: 7}, Piece: 8}
}

// stride is the step between the bytes at which a stream is cut: each byte, or in the usual
// run some, which meet every kind of place.
func stride() int {
	if !effort.Is(effort.Short) {
		return 7
	}
	return 1
}

func wantOf(a Answer) got {
	g := got{text: a.Text, reasoning: a.Reasoning}
	g.done = session.Done{Stop: session.StopEnd, Usage: a.Usage}
	switch {
	case a.Length:
		g.done.Stop = session.StopLength
	case len(a.Calls) > 0:
		g.done.Stop = session.StopCalls
		for _, c := range a.Calls {
			call := session.Call{}
			call.ID, call.Name, call.Arguments = tool.CallID(c.ID), c.Name, c.Arguments
			g.calls = append(g.calls, call.RawCall)
		}
	}
	return g
}

// equal compares what the suite knows; seals are the format's own, {} and no arguments mean the
// same.
func equal(a, b got) bool {
	if a.text != b.text || a.reasoning != b.reasoning || a.done.Stop != b.done.Stop ||
		a.done.Usage != b.done.Usage || len(a.calls) != len(b.calls) {
		return false
	}
	for i, c := range a.calls {
		d := b.calls[i]
		if c.ID != d.ID || c.Name != d.Name || orEmpty(c.Arguments) != orEmpty(d.Arguments) {
			return false
		}
	}
	return true
}

func orEmpty(arguments string) string {
	if arguments == "" {
		return "{}"
	}
	return arguments
}

func whole(s Stream) func() io.Reader {
	return func() io.Reader { return strings.NewReader(s.Body) }
}

// answers: each sample, in one piece and in small ones, arrives as it was said.
func answers(t *testing.T, w Wire) {
	for name, a := range samples() {
		for _, piece := range []int{0, 1, 9} {
			if piece > 0 && name == "large" {
				piece *= 1000
			}
			a.Piece = piece
			t.Run(fmt.Sprintf("%s/%d", name, piece), func(t *testing.T) {
				s := w.Encode(a)
				if g := answer(t, w, s.ContentType, whole(s)); !equal(g, wantOf(a)) || g.done.Err != nil {
					t.Errorf("got\n%.2000s\nwant\n%.2000s", g, wantOf(a))
				}
			})
		}
	}
}

// ids: whatever a server gives for ids, each call of a conversation has its own, and its own
// arguments.
func ids(t *testing.T, w Wire) {
	said := []Call{
		{ID: "same", Name: "read", Arguments: `{"path":"a"}`}, {ID: "same", Name: "list", Arguments: `{"path":"b"}`}, {ID: "used", Name: "grep", Arguments: `{"pattern":"c"}`},
		{ID: "", Name: "read", Arguments: `{"path":"d"}`}, {ID: "", Name: "read", Arguments: `{"path":"e"}`},
	}
	r := question("hello")
	r.Messages = append(r.Messages, session.Message{ID: "a1", Role: session.Assistant, Provider: "other", Parts: []session.Part{
		{Kind: session.CallPart, Call: &tool.RawCall{ID: "used", Name: "read"}},
	}})
	for _, piece := range []int{0, 5} {
		s := w.Encode(Answer{Calls: said, Piece: piece})
		c := canned{w, http.StatusOK, http.Header{"Content-Type": {s.ContentType}}, whole(s)}
		p := w.New(Options{BaseURL: "http://canned.test", HTTP: &http.Client{Transport: c}, NewID: counter()})
		g := collect(t.Context(), t, p, r)
		if len(g.calls) != len(said) {
			t.Fatalf("got\n%s", g)
		}
		seen := map[tool.CallID]bool{"used": true, "": true}
		for i, c := range g.calls {
			if c.Name != said[i].Name || c.Arguments != said[i].Arguments || seen[c.ID] {
				t.Errorf("call %d is %s %s %s", i, c.ID, c.Name, c.Arguments)
			}
			seen[c.ID] = true
		}
	}
}

// cuts: an answer that ends at any byte is whole or a failure, never a shorter answer. Both ways to
// end are tried: a clean end of the body, and a broken connection.
func cuts(t *testing.T, w Wire) {
	a := small()
	s := w.Encode(a)
	want := wantOf(a)
	for n := 0; n < len(s.Body); n += stride() {
		for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
			g := answer(t, w, s.ContentType, func() io.Reader {
				return io.MultiReader(strings.NewReader(s.Body[:n]), iotest.ErrReader(end))
			})
			g.done.Usage = want.done.Usage // may be in the tail
			complete := equal(g, want) && g.done.Err == nil
			if !complete && g.kind() == "" || complete && n <= s.Terminal || strings.Contains(g.String(), " sent ") {
				t.Fatalf("cut at byte %d of %d by %v (terminal record at %d):\n%s", n, len(s.Body), end, s.Terminal, g)
			}
		}
	}
}

// damage: a bad record anywhere before the end is a failure that releases nothing.
func damage(t *testing.T, w Wire) {
	a := samples()["parallel"]
	a.Piece = 30
	s := w.Encode(a)
	for _, at := range s.Records {
		if at > s.Terminal {
			break
		}
		for _, c := range []struct {
			name, record, say string
			kind              session.ErrorKind
		}{
			{"malformed", w.Malformed(), "", session.BadResponse},
			{"failure", w.Failure("the engine stopped"), "the engine stopped", session.ServerError},
			{"overflow", w.Failure("prompt is too long: 5 tokens"), "too long", session.ContextError},
			{"html", "<!DOCTYPE html><html><head><title>Bad gateway</title></head></html>\n", "HTML", session.BadResponse},
		} {
			body := s.Body[:at] + c.record + s.Body[at:]
			g := answer(t, w, s.ContentType, func() io.Reader { return strings.NewReader(body) })
			if g.kind() != c.kind || !strings.Contains(g.done.Err.Error(), c.say) {
				t.Fatalf("%s at byte %d:\n%s", c.name, at, g)
			}
		}
		body := s.Body[:at] + w.Ping() + s.Body[at:]
		if g := answer(t, w, s.ContentType, func() io.Reader { return strings.NewReader(body) }); !equal(g, wantOf(a)) {
			t.Fatalf("ping at byte %d:\n%s", at, g)
		}
	}
	endless := func() io.Reader { return zeros{} }
	if g := answer(t, w, s.ContentType, endless); g.kind() != session.BadResponse {
		t.Errorf("a line without end:\n%s", g)
	}
	for name, body := range map[string]string{"empty": "", "blank": "\n\n\n", "html": "<html><body>Sign in</body></html>"} {
		g := answer(t, w, "text/html", func() io.Reader { return strings.NewReader(body) })
		if g.kind() != session.BadResponse || g.text != "" {
			t.Errorf("%s page with status 200:\n%s", name, g)
		}
	}
}

// zeros is a line without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// refusals: each status and wording becomes its kind, with the provider's own words.
func refusals(t *testing.T, w Wire) {
	for _, c := range []struct {
		status     int
		kind, said string
		header     http.Header
		want       session.ErrorKind
		wait       time.Duration
	}{
		{401, "authentication_error", "no such key", nil, session.AuthError, 0},
		{403, "permission_error", "not for you", nil, session.AuthError, 0},
		{404, "not_found_error", "model 'm' not found", nil, session.NoModelError, 0},
		{429, "rate_limit_error", "slow down", http.Header{"Retry-After": {"7"}}, session.RateError, 7 * time.Second},
		{429, "rate_limit_error", "slow down", http.Header{"Retry-After-Ms": {"250"}}, session.RateError, 250 * time.Millisecond},
		{429, "rate_limit_error", "slow down", http.Header{
			"Date": {"Sat, 21 Nov 2026 03:00:00 GMT"}, "Retry-After": {"Sat, 21 Nov 2026 03:00:09 GMT"},
		}, session.RateError, 9 * time.Second},
		{429, "insufficient_quota", "You exceeded your current quota", nil, session.AuthError, 0},
		{529, "overloaded_error", "Overloaded", nil, session.RateError, 0},
		{500, "api_error", "it broke", nil, session.ServerError, 0},
		{503, "api_error", "come back", nil, session.ServerError, 0},
		{400, "invalid_request_error", "This model's maximum context length is 8192 tokens", nil, session.ContextError, 0},
		{400, "exceed_context_size_error", "the request exceeds the available context size", nil, session.ContextError, 0},
		{413, "request_too_large", "Request exceeds the maximum size", nil, session.ContextError, 0},
		{400, "content_filter", "filtered by the safety system", nil, session.RefusedAnswer, 0},
		{400, "invalid_request_error", "messages: odd", nil, session.RequestError, 0},
		{302, "moved", "elsewhere", http.Header{"Location": {"http://elsewhere.test/"}}, session.RequestError, 0},
	} {
		body := w.Refusal(c.kind, c.said)
		g := respond(t, canned{w, c.status, c.header, func() io.Reader { return strings.NewReader(body) }})
		failure, ok := g.done.Err.(*session.ProviderError)
		if !ok || failure.Kind != c.want || failure.Status != c.status || failure.RetryAfter != c.wait {
			t.Errorf("%d %s: %#v", c.status, c.kind, g.done.Err)
			continue
		}
		if c.status != 302 && !strings.Contains(failure.Message, strings.TrimSuffix(c.said, ".")) {
			t.Errorf("%d %s: the message %q does not repeat %q", c.status, c.kind, failure.Message, c.said)
		}
	}
	page := func() io.Reader { return strings.NewReader("<html><title>502 Bad Gateway</title></html>") }
	g := respond(t, canned{w, 502, nil, page})
	if g.kind() != session.ServerError || !strings.Contains(g.done.Err.Error(), "502 Bad Gateway") {
		t.Errorf("an HTML page with status 502:\n%s", g)
	}
}

// secrets: the key stands in no error, also when the server repeats it or a part of it.
func secrets(t *testing.T, w Wire) {
	const key = "sk-secret-0123456789abcdef"
	for _, said := range []string{"wrong key " + key, "wrong key " + key[:14] + "***cdef", "Bearer " + key + "."} {
		body := w.Refusal("authentication_error", said)
		c := canned{w, 401, nil, func() io.Reader { return strings.NewReader(body) }}
		p := w.New(Options{
			BaseURL: "http://user:" + key + "@canned.test", HTTP: &http.Client{Transport: c}, NewID: counter(), Key: key,
		})
		g := collect(t.Context(), t, p, question("hello"))
		if g.kind() != session.AuthError || strings.Contains(fmt.Sprintf("%#v", g.done.Err), key[:14]) {
			t.Errorf("%q became %#v", said, g.done.Err)
		}
	}
	refused := w.New(Options{BaseURL: "http://user:" + key + "@127.0.0.1:1", NewID: counter(), Key: key})
	g := collect(t.Context(), t, refused, question("hello"))
	if g.kind() != session.NetworkError || strings.Contains(fmt.Sprintf("%#v %v", g.done.Err, g.done.Err), key[:8]) {
		t.Errorf("an unreachable server: %#v", g.done.Err)
	}
}
