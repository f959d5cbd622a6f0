package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"adze/session"
	"adze/tool"
)

// Options configure an adapter. The adapter's package documents the zero value: the company's
// server without a key, or the local one.
type Options struct {
	Name    string // the provider in a model's full name
	BaseURL string // see the adapter's package
	Key     string // may be empty
	// Variables of the key and the address, for hints.
	KeyEnv, URLEnv string
	// Hints for a refused key and an unreachable server; by default, to check these variables.
	KeyHint, URLHint string
	// Header is added to each request.
	Header http.Header
	HTTP   *http.Client  // nil means a new client that keeps its connection
	NewID  func() string // for calls without an id; nil means random ids
	// Idle is the longest time without content; 0 means DefaultIdle, or LocalIdle on loopback.
	Idle time.Duration
	// MaxTokens limits an answer if the request does not; 0 means the default of the server or the
	// model's family.
	MaxTokens int
	// Effort is the reasoning effort in the server's words: "low", "medium", "high"; empty means
	// its default.
	Effort string
	// MaxContext limits the context that a server runs a model with, and KeepAlive is how long it
	// keeps the model loaded, in its own format. 0 and "" mean the adapter's default. Only some
	// formats support them.
	MaxContext int
	KeepAlive  string
	// Vision: the models take images; nil means unknown.
	Vision *bool
	// Findings store refusals for later processes; may be nil.
	Findings *Findings
	Door     *Door // of a cloud or a gateway; may be nil
}

// WithDefaults fills missing fields from an adapter's defaults.
func (o Options) WithDefaults(own Options) Options {
	o.Name, o.BaseURL, o.Idle = cmp.Or(o.Name, own.Name), cmp.Or(o.BaseURL, own.BaseURL), cmp.Or(o.Idle, own.Idle)
	o.KeyEnv, o.URLEnv = cmp.Or(o.KeyEnv, own.KeyEnv), cmp.Or(o.URLEnv, own.URLEnv)
	o.KeyHint = cmp.Or(o.KeyHint, own.KeyHint, "check "+o.KeyEnv+" and what its account may use")
	o.URLHint = cmp.Or(o.URLHint, own.URLHint, "check "+o.URLEnv+" and the network")
	return o
}

// FromEnv reads a key and an address, each from the first variable that is set.
func FromEnv(getenv func(string) string, keys, urls []string) Options {
	first := func(names []string) string {
		for _, name := range names {
			if value := strings.TrimSpace(getenv(name)); value != "" {
				return value
			}
		}
		return ""
	}
	return Options{Key: first(keys), BaseURL: first(urls)}
}

// An Adapter holds the parts common to all adapters, which embed it. It is safe for concurrent use.
type Adapter struct {
	Options      Options
	Client       Client
	Cache        Cache
	Pictures     PictureUse
	Quirks       []Quirk // of the format
	ServerQuirks Quirks  // of the server

	schemas schemas

	mu       sync.Mutex
	memories map[string]*memory // by model
}

// Adapt returns an adapter for complete options; paths are added to base, and each request has
// header. It opens no connection.
func Adapt(o Options, base string, header http.Header) Adapter {
	c := Client{
		Provider: o.Name, Idle: o.Idle, Secret: o.Key, HTTP: HTTP(o.HTTP), KeyHint: o.KeyHint, URLHint: o.URLHint,
		Door: o.Door, base: strings.TrimRight(base, "/"), header: header, newID: o.NewID,
	}
	if c.newID == nil {
		c.newID = NewID
	}
	if c.Idle == 0 {
		c.Idle = DefaultIdle
		if Loopback(Host(base)) {
			c.Idle = LocalIdle
		}
	}
	return Adapter{Options: o, Client: c}
}

// Name returns the part before the slash in a model's full name.
func (a *Adapter) Name() string { return a.Options.Name }

// Stream makes one model request and reads the answer to its end.
func (a *Adapter) Stream(ctx context.Context, r session.Request, path string, body func(session.Request, Quirks) *Body, read func(Answer) (session.Done, error)) iter.Seq[session.Chunk] {
	return a.Ask(ctx, r, func(out *ChunkSender, r session.Request, q Quirks) (session.Done, error) {
		r.Messages = a.Cache.Pictures(ctx, r.Messages, a.Pictures)
		reply, err := a.Client.Post(ctx, a.Options.Door.path(r.Model, path), a.Options.Door.body(body(r, q)))
		if err != nil {
			return session.Done{}, err
		}
		defer reply.Close()
		return read(a.Answer(reply, out, r))
	})
}

// Answer returns a reader for the reply to a request.
func (a *Adapter) Answer(reply *Reply, out *ChunkSender, r session.Request) Answer {
	return Answer{Client: &a.Client, Reply: reply, Chunks: out, Calls: a.Client.Calls(r.Messages)}
}

// A Format describes a wire format to package models. Each adapter provides one.
type Format struct {
	// Name is the name in the configuration ("chat", "responses"), or in the vendor's documents.
	Name string
	New  func(Options) session.Provider
	// Tools encodes tools as in requests.
	Tools func([]tool.Definition) json.RawMessage
	// List returns the address of a server's model list, and Header the key's header; nil means
	// /models below the base and a bearer token, as at OpenAI.
	List   func(base string) string
	Header func(key string) http.Header
	// Address parses an address from a variable; nil means unchanged.
	Address func(value string) string
	// Shared: many programs use this format, so the one at an unknown address must be found out.
	Shared bool
}

// ListBelow returns a List function for most servers: below the API's version, which an address may
// end with.
func ListBelow(version string) func(base string) string {
	return func(base string) string {
		base = strings.TrimSuffix(base, "/")
		if !strings.HasSuffix(base, version) {
			base += version
		}
		return base + "/models"
	}
}
