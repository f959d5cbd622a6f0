// Package llmtest is the conformance suite of model adapters: every adapter's test describes its
// wire format (Wire) and runs the same suite against it, over canned bytes, over pipes on a fake
// clock, and over a loopback server that is as strict as the real ones.
//
// The one rule: an adapter is right when a consumer cannot tell the formats apart. Each stream has
// exactly one Done, last; no call is released unless its message ended well, and then byte for
// byte.
//
// Start at Run. An adapter's test is one file: its Wire, and a call of Run and of Cases. The
// formats themselves (Chat, Messages, Responses, Gemini, Ollama: a file each, which makes this
// package large) stand here, because Relay carries a session from one to another.
//
// Known limits: time is faked over HTTP/1.1 only; over HTTP/2 the suite tries a session and a cut.
package llmtest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"adze/session"
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

// Answer is what a model says, whatever the format.
type Answer struct {
	Reasoning string
	Text      string
	Calls     []Call
	Length    bool // cut at the output limit
	Usage     session.Usage
	// Piece is the length of deltas in bytes, cut at runes where text is sent; if 0, one piece each.
	Piece int
	cut   func(text string) []string // optional; it cuts deltas instead
}

// Call is a call or its echo in a request. Arguments are JSON.
type Call struct{ ID, Name, Arguments string }

// Stream is an encoded answer.
type Stream struct {
	ContentType string
	Body        string
	Records     []int // where each record begins
	Terminal    int   // where the record begins without which the answer is not complete
}

// Builder writes streams.
type Builder struct {
	ContentType string
	body        strings.Builder
	records     []int
	terminal    int
}

// Record appends one record.
func (b *Builder) Record(text string) {
	b.records = append(b.records, b.body.Len())
	b.body.WriteString(text)
}

// End marks the next record as the terminal one.
func (b *Builder) End() { b.terminal = b.body.Len() }

// Stream is what was written.
func (b *Builder) Stream() Stream {
	return Stream{b.ContentType, b.body.String(), b.records, b.terminal}
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

// Pieces cuts text into deltas, at runes.
func (a Answer) Pieces(text string) []string {
	if a.cut != nil && text != "" {
		return a.cut(text)
	}
	var out []string
	for a.Piece > 0 && len(text) > a.Piece {
		n := a.Piece
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return append(out, text)
}

// Run is the suite.
func Run(t *testing.T, w Wire) {
	t.Run("answers", func(t *testing.T) { answers(t, w) })
	t.Run("cuts", func(t *testing.T) { cuts(t, w) })
	t.Run("damage", func(t *testing.T) { damage(t, w) })
	t.Run("disturbs", func(t *testing.T) { disturbs(t, w) })
	t.Run("refusals", func(t *testing.T) { refusals(t, w) })
	t.Run("secrets", func(t *testing.T) { secrets(t, w) })
	t.Run("cancel", func(t *testing.T) { cancels(t, w) })
	t.Run("dial", func(t *testing.T) { dials(t, w) })
	t.Run("ids", func(t *testing.T) { ids(t, w) })
	t.Run("idle", func(t *testing.T) { idles(t, w) })
	t.Run("leave", func(t *testing.T) { leaves(t, w) })
	t.Run("grows", func(t *testing.T) { Grows(t, w) })
	t.Run("foreign", func(t *testing.T) { foreign(t, w) })
	t.Run("again", func(t *testing.T) { again(t, w) })
	t.Run("http2", func(t *testing.T) { http2(t, w) })
	t.Run("together", func(t *testing.T) { together(t, w) })
}

// Sound checks what holds for every provider, whatever it speaks: one Done, last; calls announced
// before they come; a consumer may leave at any chunk; a context that has ended gives Done with its
// error. Make gives a fresh provider for each try.
func Sound(t *testing.T, make func() session.Provider, r session.Request) {
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
