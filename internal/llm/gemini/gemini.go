// Package gemini speaks Google's generateContent format, streaming: generativelanguage.googleapis.com, or a
// gateway by base URL.
//
// The one rule: an answer is complete with a finishReason and the end of the stream, and nothing else; calls
// decide how it ended, not the reason, which is STOP although there are calls. Whatever came with a
// thoughtSignature goes back in the same part with it.
//
// Start at Provider.Stream; request.go, content.go and schema.go encode, stream.go decodes.
//
// Known limits: only the first candidate is read; parts of tools that run at the provider (code execution,
// search) and generated images are skipped; models before Gemini 3 get images of an outcome in a message of
// the user that follows; of a server that gives a reason with every chunk, a stream cut between two chunks
// cannot be told from a whole one.
package gemini

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"adze/internal/llm/wire"
	"adze/session"
)

const (
	home    = "https://generativelanguage.googleapis.com"
	version = "/v1beta"
)

// Options configure a provider. The zero value is Google's server without a key.
type Options struct {
	Name string // of the provider in a model's full name; "gemini"
	// BaseURL may end with a version, such as /v1beta, which is added otherwise.
	BaseURL string
	Key     string // sent as x-goog-api-key, never in the address; empty: none
	// Header is added to each request.
	Header http.Header
	HTTP   *http.Client  // nil: one of our own that keeps its connection
	NewID  func() string // mints ids for calls without one; nil: random
	// Idle is how long the server may send no content; 0: wire.DefaultIdle, on loopback wire.LocalIdle.
	Idle time.Duration
	// MaxTokens bounds an answer when the request does not; 0: the model's own limit.
	MaxTokens int
	// Effort is how hard the model thinks: "low", "medium", "high"; empty: its default.
	Effort string
}

// FromEnv reads GEMINI_API_KEY, else GOOGLE_API_KEY, and GEMINI_BASE_URL, else GOOGLE_GEMINI_BASE_URL. It
// reports whether there is a key.
func FromEnv(getenv func(string) string) (Options, bool) {
	first := func(names ...string) string {
		for _, name := range names {
			if value := strings.TrimSpace(getenv(name)); value != "" {
				return value
			}
		}
		return ""
	}
	o := Options{
		Key:     first("GEMINI_API_KEY", "GOOGLE_API_KEY"),
		BaseURL: first("GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"),
	}
	return o, o.Key != ""
}

// Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	options Options
	client  wire.Client
	cache   wire.Cache
	learned wire.Learned[manners]
}

var _ session.Provider = (*Provider)(nil)

// New makes a provider. It does no work and opens no connection.
func New(o Options) *Provider {
	if o.Name == "" {
		o.Name = "gemini"
	}
	if o.BaseURL == "" {
		o.BaseURL = home
	}
	return &Provider{options: o, client: wire.Connect(wire.Setup{
		Name: o.Name, Base: versioned(o.BaseURL), Header: wire.With(o.Header, "X-Goog-Api-Key", o.Key), Key: o.Key,
		HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle,
		KeyHint: "check GEMINI_API_KEY and what its project may use",
		URLHint: "check GEMINI_BASE_URL and the network",
	})}
}

func versioned(base string) string {
	base = strings.TrimRight(base, "/")
	last := base[strings.LastIndexByte(base, '/')+1:]
	if len(last) > 1 && last[0] == 'v' && last[1] >= '0' && last[1] <= '9' {
		return base
	}
	return base + version
}

// Name is the part before the slash in a model's full name.
func (p *Provider) Name() string { return p.options.Name }

// Warm opens the connection of the first request ahead; see wire.Client.
func (p *Provider) Warm(ctx context.Context) { p.client.Warm(ctx) }

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return wire.Stream(ctx, func(out *wire.Out) (session.Done, error) {
		return p.client.Answer(func() (*wire.Reply, error) { return p.open(ctx, r) }, func(reply *wire.Reply) (session.Done, error) {
			a := answer{client: &p.client, reply: reply, out: out, calls: p.client.Calls(r.Messages)}
			err := a.read()
			return a.done, err
		})
	})
}

// manners are the parts of a request that not every model accepts.
type manners struct {
	noSchema     bool // responseJsonSchema, or this schema in it
	noThinking   bool // thinkingConfig: models that do not think refuse it
	noSignatures bool // signatures made for another model or project
}

// open sends the request; a model that refuses a part of it is asked again without, and remembered.
func (p *Provider) open(ctx context.Context, r session.Request) (*wire.Reply, error) {
	reply, err := p.learned.Ask(r.Model, manners{}, func(m manners) (*wire.Reply, error) {
		return p.client.Post(ctx, path(r.Model), p.body(r, m))
	}, manners.refused)
	return reply, explained(err)
}

// refused learns from a refusal; the words are those of Google's server.
func (m manners) refused(err error) manners {
	switch {
	case wire.Mentions(err, "response_json_schema", "responseJsonSchema", "response_mime_type", "responseMimeType", "response_schema"):
		m.noSchema = true
	case wire.Mentions(err, "hought signature is not valid", "orrupted thought signature", "nvalid thought signature"):
		m.noSignatures = true
	case wire.Mentions(err, "hinking is not", "hinking level", "thinking_level", "thinking_budget", "thinking_config", "thinkingConfig", "include_thoughts", "thinking is not supported"):
		m.noThinking = true
	}
	return m
}

// path is where a model is asked: "models/" stands before a bare name, tuned models bring their own folder.
func path(model string) string {
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	steps := strings.Split(model, "/")
	for i, s := range steps {
		steps[i] = url.PathEscape(s)
	}
	return "/" + strings.Join(steps, "/") + ":streamGenerateContent?alt=sse"
}

// explained tells a used-up minute from a used-up account: Google words both as an exceeded quota, and says
// of the first when to ask again.
func explained(err error) error {
	var failure *session.ProviderError
	if !errors.As(err, &failure) || failure.Status != http.StatusTooManyRequests || failure.Kind != session.AuthError ||
		!strings.Contains(failure.Message, "Quota exceeded for metric") || strings.Contains(failure.Message, "limit: 0") {
		return err
	}
	failure.Kind, failure.Hint = session.RateError, "wait a little and try again"
	wait := regexp.MustCompile(`retry in ([0-9.]+)s`).FindStringSubmatch(failure.Message)
	if failure.RetryAfter == 0 && wait != nil {
		failure.RetryAfter, _ = time.ParseDuration(wait[1] + "s") // not a time: none
	}
	return failure
}
