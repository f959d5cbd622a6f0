package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
)

// got is a stream as a session would store it.
type got struct {
	text, reasoning string
	sealed          []string
	calls           []tool.RawCall
	done            session.Done
}

func (g got) kind() session.ErrorKind {
	var failure *session.ProviderError
	if errors.As(g.done.Err, &failure) {
		return failure.Kind
	}
	return ""
}

// String shows a result in the form of the cases.
func (g got) String() string {
	var b strings.Builder
	if g.reasoning != "" {
		fmt.Fprintf(&b, "reasoning %q\n", g.reasoning)
	}
	for _, s := range g.sealed {
		fmt.Fprintf(&b, "sealed %s\n", s)
	}
	if g.text != "" {
		fmt.Fprintf(&b, "text %q\n", g.text)
	}
	for _, c := range g.calls {
		fmt.Fprintf(&b, "call %s %s %s\n", c.ID, c.Name, c.Arguments)
		if len(c.Opaque) > 0 {
			fmt.Fprintf(&b, "  with %s\n", c.Opaque)
		}
	}
	fmt.Fprintf(&b, "done %s", g.done.Stop)
	if u := g.done.Usage; u != (session.Usage{}) {
		fmt.Fprintf(&b, " input=%d output=%d cache_read=%d cache_write=%d reasoning=%d",
			u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning)
	}
	b.WriteString("\n")
	if g.done.Err != nil {
		fmt.Fprintf(&b, "%s: %v\n", g.kind(), g.done.Err)
	}
	if g.done.Notice != "" {
		fmt.Fprintf(&b, "notice: %s\n", g.done.Notice)
	}
	return b.String()
}

// collect drains a stream and checks what holds for every stream.
func collect(ctx context.Context, t testing.TB, p session.Provider, r session.Request) got {
	t.Helper()
	var g got
	dones := 0
	formed := map[tool.CallID]session.Forming{}
	for c := range p.Stream(ctx, r) {
		if dones > 0 {
			t.Errorf("%T after Done", c)
		}
		switch c := c.(type) {
		case session.Text:
			g.text += c.Delta
		case session.Reasoning:
			g.reasoning += c.Delta
			if len(c.Opaque) > 0 {
				g.sealed = append(g.sealed, string(c.Opaque))
			}
		case session.Forming:
			if c.Bytes < formed[c.ID].Bytes || c.ID == "" {
				t.Errorf("%+v after %+v", c, formed[c.ID])
			}
			formed[c.ID] = c
		case session.Call:
			g.calls = append(g.calls, c.RawCall)
		case session.Done:
			g.done = c
			dones++
		}
	}
	if dones != 1 {
		t.Errorf("%d Done", dones)
	}
	g.check(t, formed)
	return g
}

func (g got) check(t testing.TB, formed map[tool.CallID]session.Forming) {
	t.Helper()
	seen := map[tool.CallID]bool{}
	for _, c := range g.calls {
		f, ok := formed[c.ID]
		if seen[c.ID] || !ok || f.Name != c.Name || f.Bytes != len(c.Arguments) {
			t.Errorf("call %+v was announced as %+v (again: %t)", c, f, seen[c.ID])
		}
		seen[c.ID] = true
	}
	var failure *session.ProviderError
	switch {
	case g.done.Err != nil && len(g.calls) > 0:
		t.Errorf("calls %+v were released by a failed answer", g.calls)
	case (g.done.Stop == session.StopCalls) != (len(g.calls) > 0):
		t.Errorf("stop %s with %d calls", g.done.Stop, len(g.calls))
	case g.done.Err != nil && g.done.Stop != session.StopAborted && !errors.As(g.done.Err, &failure):
		t.Errorf("an error of type %T: %v", g.done.Err, g.done.Err)
	case failure != nil && (strings.ContainsAny(failure.Message, "\r\n\x1b") || len(failure.Message) > 600):
		t.Errorf("a message that is not one short line: %q", failure.Message)
	}
}

// canned is a transport that answers with bytes and no network.
type canned struct {
	wire   Wire
	status int
	header http.Header
	body   func() io.Reader
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	rec := httptest.NewRecorder()
	if c.wire.Side(rec, r) {
		return rec.Result(), nil
	}
	return &http.Response{
		StatusCode: c.status, Header: c.header, Body: io.NopCloser(c.body()), Request: r,
		ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
	}, nil
}

// answer asks a provider that gets these bytes.
func answer(t testing.TB, w Wire, contentType string, body func() io.Reader) got {
	t.Helper()
	return respond(t, canned{w, http.StatusOK, http.Header{"Content-Type": {contentType}}, body})
}

func respond(t testing.TB, c canned) got {
	t.Helper()
	p := c.wire.New(Options{BaseURL: "http://canned.test", HTTP: &http.Client{Transport: c}, NewID: counter()})
	return collect(t.Context(), t, p, question("hello"))
}

// counter mints new1, new2, ...
func counter() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("new%d", n)
	}
}

func question(text string) session.Request {
	return session.Request{Model: "m", System: "be brief", Messages: []session.Message{{
		ID: "u1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}},
	}}}
}
