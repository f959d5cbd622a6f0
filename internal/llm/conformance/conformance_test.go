// Package conformance_test holds every model adapter to one suite: each format (Wire) is tried over
// canned bytes, over pipes on a fake clock, and over a loopback server that is as strict as the
// real ones.
//
// The one rule: an adapter is right when a consumer cannot tell the formats apart. Each stream has
// exactly one Done, last; no call is released unless its message ended well, and then byte for
// byte.
//
// Start at the table in formats_test.go, then suite. A format stands in a file of its own.
//
// Known limits: time is faked over HTTP/1.1 only; over HTTP/2 the suite tries a session and a cut.
package conformance_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"adze/internal/testkit/llmtest"
	"adze/session"
)

// What a model says, and how a format tells it.
type (
	Answer  = llmtest.Answer
	Call    = llmtest.Call
	Stream  = llmtest.Stream
	Builder = llmtest.Builder
)

// Options are what the suite wants to choose of a provider.
type Options struct {
	BaseURL string // scheme, host and port
	HTTP    *http.Client
	NewID   func() string
	Idle    time.Duration
	Key     string
}

// Wire describes a wire format to the suite.
type Wire interface {
	// New makes the provider under test.
	New(o Options) session.Provider
	// Encode writes an answer as the format's stream, as a real server would.
	Encode(a Answer) Stream
	// Decode reads a request as a strict server would; its error is what the server refuses.
	Decode(body []byte) (Request, error)
	// Grown removes from a request what may move or grow after the messages (cache markers, closing
	// brackets, options): what is left must be a prefix of the next request.
	Grown(body []byte) []byte
	// Side answers requests that ask no model, such as a list of models; if false, it was not one.
	Side(w http.ResponseWriter, r *http.Request) bool
	// Ping is a record without content, Malformed one that is damaged, Failure an error object.
	Ping() string
	Malformed() string
	// Unknown are records, or several in a row, of things that were never asked for and are no part
	// of the answer.
	Unknown() []string
	Failure(message string) string
	// Refusal is the body of a failed request.
	Refusal(kind, message string) string
}

// Request is a decoded request.
type Request struct {
	Model string
	Tools []string
	Items []Item
}

// Item is one message of a request.
type Item struct {
	Kind   string // system, user, assistant or result
	Text   string
	Calls  []Call // of assistant
	CallID string // of result
	Failed bool   // of result, where the format tells
	Images int
	// Thinking counts the blocks of thinking that are sent back.
	Thinking int
}

// suite is what each format passes.
func suite(t *testing.T, w Wire) {
	t.Run("answers", func(t *testing.T) { answers(t, w) })
	t.Run("cuts", func(t *testing.T) { cuts(t, w) })
	t.Run("damage", func(t *testing.T) { damage(t, w) })
	if _, frames := w.(interface{ Frames() }); !frames { // it changes text
		t.Run("disturbs", func(t *testing.T) { disturbs(t, w) })
	}
	t.Run("refusals", func(t *testing.T) { refusals(t, w) })
	t.Run("secrets", func(t *testing.T) { secrets(t, w) })
	t.Run("cancel", func(t *testing.T) { cancels(t, w) })
	t.Run("dial", func(t *testing.T) { dials(t, w) })
	t.Run("ids", func(t *testing.T) { ids(t, w) })
	t.Run("idle", func(t *testing.T) { idles(t, w) })
	t.Run("leave", func(t *testing.T) { leaves(t, w) })
	t.Run("grows", func(t *testing.T) { grows(t, w) })
	t.Run("foreign", func(t *testing.T) { foreign(t, w) })
	t.Run("again", func(t *testing.T) { again(t, w) })
	t.Run("http2", func(t *testing.T) { http2(t, w) })
	t.Run("together", func(t *testing.T) { together(t, w) })
}

// sound checks what holds for every provider, whatever it speaks: one Done, last; calls announced
// before they come; a consumer may leave at any chunk; a context that has ended gives Done with its
// error. Make gives a fresh provider for each try.
func sound(t *testing.T, make func() session.Provider, r session.Request) {
	t.Helper()
	collect(t.Context(), t, make(), r)
	for n := 1; ; n++ {
		left := n
		for range make().Stream(t.Context(), r) {
			if left--; left == 0 {
				break
			}
		}
		if left > 0 {
			break
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if g := collect(ended, t, make(), r); g.done.Stop != session.StopAborted || !errors.Is(g.done.Err, context.Canceled) {
		t.Errorf("with an ended context: %s", g)
	}
}
