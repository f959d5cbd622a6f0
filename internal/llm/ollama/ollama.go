// Package ollama speaks Ollama's own API: /api/chat with options.num_ctx, because Ollama silently cuts the
// front of a prompt that does not fit its context, and only this API can set it.
//
// The one rule: an answer is complete with done:true, and nothing else; calls decide how it ended, not
// done_reason, which is "stop" although there are calls.
//
// Start at Provider.Stream; context.go chooses num_ctx, models.go asks the server what it has.
//
// Known limits: the prompt is estimated by its bytes, corrected by what the server counted; a server older
// than the truncate option still cuts, which Done.Notice tells, but only after the fact.
package ollama

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"adze/internal/llm/wire"
	"adze/session"
)

const (
	home        = "http://127.0.0.1:11434"
	defaultPort = "11434"
	// keepAlive keeps the model loaded between turns: reading output and answering a dialog often take
	// longer than the server's five minutes, and loading anew evaluates the whole prompt again.
	keepAlive = "30m"
)

// Options configure a provider. The zero value is the server on this machine.
type Options struct {
	Name    string        // of the provider in a model's full name; "ollama"
	BaseURL string        // "http://127.0.0.1:11434"
	Key     string        // for a server that wants one, such as ollama.com; empty: none
	HTTP    *http.Client  // nil: one of our own that keeps its connection
	NewID   func() string // mints ids for calls without one; nil: random
	// Idle is how long the server may send no content; 0: wire.LocalIdle.
	Idle time.Duration
	// MaxTokens bounds an answer when the request does not; 0: the server's default.
	MaxTokens int
	// MaxContext bounds num_ctx, which costs memory; 0: the model's limit.
	MaxContext int
	// KeepAlive is how long the model stays loaded after a request, as Ollama writes durations; empty: 30m.
	KeepAlive string
	// KeyHint and URLHint say what to do about a refused key and an unreachable server; empty: as at OLLAMA_HOST.
	KeyHint, URLHint string
	// Think turns thinking on or off; nil: on where the model can.
	Think *bool
}

// FromEnv reads OLLAMA_HOST as Ollama does: host, host:port, :port or a URL; an address that means every
// interface becomes loopback. OLLAMA_API_KEY is for servers that want a key. It reports whether OLLAMA_HOST
// is set.
func FromEnv(getenv func(string) string) (Options, bool) {
	o := Options{BaseURL: home, Key: strings.TrimSpace(getenv("OLLAMA_API_KEY"))}
	value := strings.TrimSpace(strings.Trim(strings.TrimSpace(getenv("OLLAMA_HOST")), `"'`))
	if value == "" {
		return o, false
	}
	o.BaseURL = baseOf(value)
	return o, true
}

func baseOf(value string) string {
	port := defaultPort
	scheme, rest, ok := strings.Cut(value, "://")
	switch {
	case !ok:
		scheme, rest = "http", value
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	}
	rest, path, _ := strings.Cut(rest, "/")
	host, given, err := net.SplitHostPort(rest)
	if err != nil {
		host = strings.Trim(rest, "[]")
	} else if n, bad := strconv.Atoi(given); bad == nil && n > 0 && n <= 65535 {
		port = given
	}
	switch ip := net.ParseIP(host); {
	case host == "" || ip != nil && ip.IsUnspecified() && ip.To4() != nil:
		host = "127.0.0.1"
	case ip != nil && ip.IsUnspecified():
		host = "::1"
	}
	base := scheme + "://" + net.JoinHostPort(host, port)
	if path = strings.Trim(path, "/"); path != "" {
		base += "/" + path
	}
	return base
}

// Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	options Options
	client  wire.Client
	base    string
	cache   wire.Cache

	mu     sync.Mutex
	known  map[string]details // by model
	loose  map[string]bool    // by model: a schema was refused
	window map[string]*window // by model
}

var _ session.Provider = (*Provider)(nil)

// New makes a provider. It does no work and opens no connection.
func New(o Options) *Provider {
	if o.Name == "" {
		o.Name = "ollama"
	}
	if o.BaseURL == "" {
		o.BaseURL = home
	}
	if o.Idle == 0 {
		o.Idle = wire.LocalIdle
	}
	if o.KeepAlive == "" {
		o.KeepAlive = keepAlive
	}
	base := strings.TrimRight(o.BaseURL, "/")
	return &Provider{
		options: o, base: base, known: map[string]details{}, loose: map[string]bool{}, window: map[string]*window{},
		client: wire.Connect(wire.Setup{
			Name: o.Name, Base: base, Header: wire.Bearer(nil, o.Key), Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle,
			KeyHint: cmp.Or(o.KeyHint, "check what the server at OLLAMA_HOST allows"),
			URLHint: cmp.Or(o.URLHint, "start it with: ollama serve; or set OLLAMA_HOST"),
		}),
	}
}

// Name is the part before the slash in a model's full name.
func (p *Provider) Name() string { return p.options.Name }

// Warm opens the connection of the first request ahead; see wire.Client.
func (p *Provider) Warm(ctx context.Context) { p.client.Warm(ctx) }

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return wire.Stream(ctx, func(out *wire.Out) (session.Done, error) {
		d, err := p.details(ctx, r.Model)
		if err != nil {
			return session.Done{}, advise(err, r.Model)
		}
		reply, sent, err := p.open(ctx, r, d)
		if err != nil {
			return session.Done{}, advise(err, r.Model)
		}
		defer reply.Close()
		a := answer{client: &p.client, reply: reply, out: out, calls: p.client.Calls(r.Messages)}
		if err = a.read(); err == nil {
			err = p.counted(r.Model, sent, a.done.Usage.Input)
		}
		return a.done, err
	})
}

// advise tells what to do about a model that the server does not have, or that cannot use tools.
func advise(err error, model string) error {
	var failure *session.ProviderError
	switch {
	case !errors.As(err, &failure):
	case failure.Kind == session.NoModelError:
		failure.Hint = "get it with: ollama pull " + model + "; or see what is there with: ollama list"
	case strings.Contains(failure.Message, "does not support tools"):
		failure.Hint = "choose a model that can use tools: ollama show " + model + " lists what it can"
	}
	return err
}

// open sends the request. A server that finds the prompt too long for num_ctx is asked again with more,
// as long as the model has more.
func (p *Provider) open(ctx context.Context, r session.Request, d details) (*wire.Reply, sent, error) {
	body := p.body(r, d)
	for {
		s := p.fit(r, d, textBytes(r, d, int(body.Len())))
		whole := *body
		whole.Add(p.tail(r, d, s.context))
		reply, err := p.post(ctx, "/api/chat", &whole)
		var failure *session.ProviderError
		if !errors.As(err, &failure) || !p.loosen(r, failure) && (failure.Kind != session.ContextError || !p.widen(r.Model, s, d)) {
			return reply, s, err
		}
	}
}

// formless reports whether a model is asked without a schema.
func (p *Provider) formless(model string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loose[model]
}

// loosen remembers that the server could not make a grammar of a schema; false: it did not say so.
func (p *Provider) loosen(r session.Request, failure *session.ProviderError) bool {
	text := strings.ToLower(failure.Message)
	if len(r.Schema) == 0 || failure.Kind == session.ContextError ||
		!strings.Contains(text, "schema") && !strings.Contains(text, "grammar") && !strings.Contains(text, "format") {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.loose[r.Model]
	p.loose[r.Model] = true
	return !was
}

func (p *Provider) post(ctx context.Context, path string, body *wire.Body) (*wire.Reply, error) {
	return p.client.Post(ctx, path, body)
}

func (p *Provider) header() http.Header { return wire.Bearer(nil, p.options.Key) }
