// Package ollama speaks Ollama's own API: /api/chat with options.num_ctx. Ollama silently cuts the
// front of a prompt that exceeds its context, and only this API can set it.
//
// The one rule: only done:true completes an answer. Calls take precedence over done_reason, which
// is "stop" even if there are calls.
//
// Start at Provider.Stream; context.go chooses num_ctx, models.go queries the models.
//
// Known limits: the prompt size is estimated by bytes, corrected by the server's counts. A server
// older than the truncate option still cuts; Done.Notice reports it afterwards.
package ollama

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net"
	"strconv"
	"strings"
	"sync"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

const (
	home        = "http://127.0.0.1:11434"
	defaultPort = "11434"
	// Reading output and answering a dialog often take longer than the server's default of five
	// minutes, and reloading evaluates the whole prompt again.
	keepAlive = "30m"
)

// Options configure a provider. The zero value is the server on this machine. Effort "none" turns
// thinking off, any other turns it on; by default a model thinks if it can.
type Options = wire.Options

// BaseOf parses an address like Ollama's OLLAMA_HOST: host, host:port, :port or a URL. An address
// of all interfaces becomes loopback, and "" stays "".
func BaseOf(value string) string {
	if value = strings.TrimSpace(strings.Trim(strings.TrimSpace(value), `"'`)); value == "" {
		return ""
	}
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

// A Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	wire.Adapter
	base string

	mu     sync.Mutex
	known  map[string]details // by model
	loose  map[string]bool    // models whose schema was refused
	window map[string]*window // by model
}

var _ session.Provider = (*Provider)(nil)

// New returns a provider. It opens no connection.
func New(o Options) *Provider {
	o = o.WithDefaults(Options{
		Name: "ollama", BaseURL: home, Idle: wire.LocalIdle,
		KeyHint: "check what the server at OLLAMA_HOST allows", URLHint: "start it with: ollama serve; or set OLLAMA_HOST",
	})
	o.KeepAlive = cmp.Or(o.KeepAlive, keepAlive)
	return &Provider{
		Adapter: wire.Adapt(o, o.BaseURL, wire.Bearer(nil, o.Key)), base: strings.TrimRight(o.BaseURL, "/"),
		known: map[string]details{}, loose: map[string]bool{}, window: map[string]*window{},
	}
}

// Format describes this format to package models.
func Format() wire.Format {
	return wire.Format{
		Name:  "ollama",
		New:   func(o Options) session.Provider { return New(o) },
		Tools: func(t []tool.Definition) json.RawMessage { return wire.JSON(offer(t)) },
		List:  func(base string) string { return base + "/api/tags" }, Address: BaseOf,
	}
}

// Stream sends the request and yields the answer.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return p.Ask(ctx, r, func(out *wire.ChunkSender, r session.Request, _ wire.Quirks) (session.Done, error) {
		d, err := p.details(ctx, r.Model)
		if err != nil {
			return session.Done{}, advise(err, r.Model)
		}
		reply, sent, err := p.open(ctx, r, d)
		if err != nil {
			return session.Done{}, advise(err, r.Model)
		}
		defer reply.Close()
		a := answer{Answer: p.Answer(reply, out, r)}
		if err = a.read(); err == nil {
			err = p.counted(r.Model, sent, a.Done.Usage.Input)
		}
		if !d.vision && !d.absent && wire.NewPictures(r.Messages) {
			a.Done.Notice = r.Model + " takes no pictures: it got a note in their place; ollama show " + r.Model + " lists what it can"
		}
		return a.Done, err
	})
}

// advise adds a hint for a missing model or one that cannot use tools.
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

// open sends the request. If the prompt exceeds num_ctx, it tries again with more, up to the
// model's limit.
func (p *Provider) open(ctx context.Context, r session.Request, d details) (*wire.Reply, sizedRequest, error) {
	if d.vision {
		r.Messages = p.Cache.Pictures(ctx, r.Messages, wire.OllamaPictures)
	}
	body := p.body(r, d)
	for {
		s := p.fit(r, d, p.textBytes(r, d, int(body.Len())))
		whole := *body
		whole.Add(p.tail(r, d, s.context))
		reply, err := p.Client.Post(ctx, "/api/chat", &whole)
		var failure *session.ProviderError
		if !errors.As(err, &failure) || !p.loosen(r, failure) && (failure.Kind != session.ContextError || !p.widen(r.Model, s, d)) {
			return reply, s, err
		}
	}
}

// loosen records that the server could not convert a schema to a grammar. It returns false for any
// other failure.
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
