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

// Options configure an adapter. The zero value is what the adapter's package says of itself: the
// company's server without a key, or the one on this machine.
type Options struct {
	Name    string // of the provider in a model's full name
	BaseURL string // an adapter's package says up to where
	Key     string // if empty, none is sent
	// KeyEnv and URLEnv name the variables of the key and the address, for hints.
	KeyEnv, URLEnv string
	// KeyHint and URLHint say what to do about a refused key and an unreachable server; if empty,
	// check these variables.
	KeyHint, URLHint string
	// Header is added to each request.
	Header http.Header
	HTTP   *http.Client  // if nil, one of our own that keeps its connection
	NewID  func() string // mints ids for calls without one; if nil, random
	// Idle is how long the server may send no content; if 0, DefaultIdle, on loopback LocalIdle.
	Idle time.Duration
	// MaxTokens bounds an answer when the request does not; if 0, what the server or the model's
	// family allows.
	MaxTokens int
	// Effort is how hard a model thinks, in the server's words: "low", "medium", "high"; if empty, its
	// default.
	Effort string
	// MaxContext bounds the context that a server is asked to run a model with, and KeepAlive is
	// how long it keeps the model loaded after a request, in its words; 0 and empty: the adapter's
	// default. Only some formats can say either.
	MaxContext int
	KeepAlive  string
	// Vision says whether the models take pictures; if nil, their server may say.
	Vision *bool
	// Findings keep what refusals say of models for the next processes; if nil, nothing does.
	Findings *Findings
}

// Or fills what is not given from what an adapter says of itself.
func (o Options) Or(own Options) Options {
	o.Name, o.BaseURL, o.Idle = cmp.Or(o.Name, own.Name), cmp.Or(o.BaseURL, own.BaseURL), cmp.Or(o.Idle, own.Idle)
	o.KeyEnv, o.URLEnv = cmp.Or(o.KeyEnv, own.KeyEnv), cmp.Or(o.URLEnv, own.URLEnv)
	o.KeyHint = cmp.Or(o.KeyHint, own.KeyHint, "check "+o.KeyEnv+" and what its account may use")
	o.URLHint = cmp.Or(o.URLHint, own.URLHint, "check "+o.URLEnv+" and the network")
	return o
}

// FromEnv reads a key and an address, each from the first of its variables that is set.
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

// Adapter is what every adapter is beside its format. Adapters embed it; it is safe for concurrent
// use.
type Adapter struct {
	Options  Options
	Client   Client
	Cache    Cache
	Pictures PictureUse
	Quirks   []Quirk // of the format
	Usual    Quirks  // of the server

	schemas schemas

	mu    sync.Mutex
	known map[string]*memory // by model
}

// Adapt makes an adapter of whole options; base is what paths are added to, and header goes with
// each request. It does no work and opens no connection.
func Adapt(o Options, base string, header http.Header) Adapter {
	c := Client{
		Provider: o.Name, Idle: o.Idle, Secret: o.Key, HTTP: HTTP(o.HTTP), KeyHint: o.KeyHint, URLHint: o.URLHint,
		base: strings.TrimRight(base, "/"), header: header, newID: o.NewID,
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

// Name is the part before the slash in a model's full name.
func (a *Adapter) Name() string { return a.Options.Name }

// Stream asks, and reads the answer to its end: the whole of one model request.
func (a *Adapter) Stream(ctx context.Context, r session.Request, path string, body func(session.Request, Quirks) *Body, read func(Answer) (session.Done, error)) iter.Seq[session.Chunk] {
	return a.Ask(ctx, r, func(out *Out, r session.Request, q Quirks) (session.Done, error) {
		r.Messages = a.Cache.Pictures(ctx, r.Messages, a.Pictures)
		reply, err := a.Client.Post(ctx, path, body(r, q))
		if err != nil {
			return session.Done{}, err
		}
		defer reply.Close()
		return read(a.Answer(reply, out, r))
	})
}

// Answer begins to read a reply to a request.
func (a *Adapter) Answer(reply *Reply, out *Out, r session.Request) Answer {
	return Answer{Client: &a.Client, Reply: reply, Out: out, Calls: a.Client.Calls(r.Messages)}
}

// Format is what the choice of a model knows of a wire format. Each adapter hands in its own.
type Format struct {
	// Name is the one of the configuration ("chat", "responses"), or else of the vendor's documents.
	Name string
	New  func(Options) session.Provider
	// Tools writes tools down as requests hold them.
	Tools func([]tool.Definition) json.RawMessage
	// List is where a server at an address lists its models, and Header is what carries a key there;
	// if nil, as with OpenAI, at /models below it and as a bearer token.
	List   func(base string) string
	Header func(key string) http.Header
	// Address reads an address as it stands in a variable; if nil, as it is.
	Address func(value string) string
	// Shared formats are spoken by many programs: what answers away from a company has to be found
	// out.
	Shared bool
}

// ListBelow is where most servers list their models: below the version of their API, which an
// address may end with.
func ListBelow(version string) func(base string) string {
	return func(base string) string {
		base = strings.TrimSuffix(base, "/")
		if !strings.HasSuffix(base, version) {
			base += version
		}
		return base + "/models"
	}
}
