package llmtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"adze/session"
)

// A Keeper is a transport that returns prepared replies in order, repeating the last one, and
// stores the requests. It handles one request at a time.
type Keeper struct {
	Answers []Reply
	Bodies  []string    // request bodies, in order
	Header  http.Header // of the newest request, like URL
	URL     string
}

// A Reply is a prepared response.
type Reply struct {
	Status int
	Body   string
}

// RoundTrip implements http.RoundTripper.
func (k *Keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	a := k.Answers[min(len(k.Bodies), len(k.Answers)-1)]
	k.Bodies, k.Header, k.URL = append(k.Bodies, string(raw)), r.Header, r.URL.String()
	rec := httptest.NewRecorder()
	rec.WriteHeader(a.Status)
	_, _ = rec.WriteString(a.Body)
	return rec.Result(), nil
}

// Ask sends requests in sequence, fails the test on an error, and returns the last answer's chunks.
func Ask(t *testing.T, p session.Provider, requests ...session.Request) (all []session.Chunk) {
	t.Helper()
	for _, r := range requests {
		all = nil
		for c := range p.Stream(t.Context(), r) {
			all = append(all, c)
		}
		if len(all) == 0 {
			t.Fatal("the stream is empty")
		}
		if done, ok := all[len(all)-1].(session.Done); !ok || done.Err != nil {
			t.Fatalf("%+v", all)
		}
	}
	return all
}

// Stored returns an answer as a session stores it.
func Stored(provider, id string, chunks []session.Chunk) session.Message {
	m := session.Message{ID: id, Role: session.Assistant, Provider: provider, Model: "m"}
	sealed := true
	for _, c := range chunks {
		switch c := c.(type) {
		case session.Text:
			if n := len(m.Parts); n == 0 || m.Parts[n-1].Kind != session.TextPart {
				m.Parts = append(m.Parts, session.Part{Kind: session.TextPart})
			}
			m.Parts[len(m.Parts)-1].Text += c.Delta
		case session.Reasoning:
			if n := len(m.Parts); n == 0 || m.Parts[n-1].Kind != session.ReasoningPart || sealed {
				m.Parts = append(m.Parts, session.Part{Kind: session.ReasoningPart})
			}
			m.Parts[len(m.Parts)-1].Text += c.Delta
			if sealed = len(c.Opaque) > 0; sealed {
				m.Parts[len(m.Parts)-1].Opaque = c.Opaque
			}
		case session.Call:
			m.Parts = append(m.Parts, session.Part{Kind: session.CallPart, Call: &c.RawCall})
		}
	}
	return m
}
