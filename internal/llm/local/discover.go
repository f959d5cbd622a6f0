package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"adze/internal/llm/wire"
	"adze/session"
)

// Limits of a query.
const (
	// bytes in one answer: the longest known list, from a company with 400 models, has 600 kB
	maxList = 8 << 20
	// for a connection to this machine
	nearDial = 300 * time.Millisecond
	// For all requests of a query: to this machine, and to any other.
	nearTime = time.Second
	farTime  = 5 * time.Second
)

// Kind identifies the server program, which determines the requests beside the list.
type Kind string

// Any is a server of which only the list is known.
const (
	Any      Kind = ""
	LlamaCPP Kind = "llamacpp"
	LMStudio Kind = "lmstudio"
	VLLM     Kind = "vllm"
)

// A Server describes how to query a server.
type Server struct {
	Kind Kind
	Name string // for messages
	// Base is the API's address including its version: "http://127.0.0.1:8080/v1".
	Base   string
	List   string // address of the list; if empty, Base + "/models"
	Header http.Header
	Secret string // redacted in every message
	// Hints for the user after a refused key and for an unreachable server.
	KeyHint, URLHint string
	Patience         time.Duration // for all requests; 0 means 1 s on this machine, else 5 s
	HTTP             *http.Client  // nil means one of its own
	Door             *wire.Door    // of a gateway; may be nil
}

// A Model is a server's description of one model.
type Model struct {
	Name string
	// Context is the request limit in tokens, with the answer, as the server runs the model now;
	// Trained is the largest the model supports. 0 means unknown.
	Context, Trained int
	Output           int // tokens of the longest answer; 0 if unknown
	Size             int64
	Running          int // the context it is loaded with; 0 if unknown
	Tools            *bool
	Vision           *bool
	Thinking         *bool
	Loaded           *bool // nil if unknown, which is normal for servers of one model
	Owner            string
	// USD per million tokens; nil if unknown.
	Input, Answer *float64
}

// Limit returns the largest request that can fit: the running model's context, else the trained
// one.
func (m Model) Limit() int {
	if m.Context > 0 {
		return m.Context
	}
	return m.Trained
}

// Models queries the server. The error is a *session.ProviderError, or ctx's error if the caller
// gave up.
func (s Server) Models(ctx context.Context) ([]Model, error) {
	patience := s.patience()
	inner, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a := asker{server: s, client: s.client(patience)}
	defer a.client.HTTP.CloseIdleConnections()
	models, err := a.models(inner)
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = &session.ProviderError{
			Kind: session.NetworkError, Message: s.Name + " did not answer in time", Hint: s.URLHint, Err: err,
		}
	}
	return models, err
}

func (s Server) patience() time.Duration {
	switch {
	case s.Patience > 0:
		return s.Patience
	case s.near():
		return nearTime
	}
	return farTime
}

func (s Server) near() bool {
	u, err := url.Parse(s.Base)
	return err == nil && wire.Loopback(u.Hostname())
}

// client returns a client with a longer timeout than the query's context, so that a slow server is
// never reported as unreachable.
func (s Server) client(patience time.Duration) wire.Client {
	dial := patience
	if s.near() {
		dial = nearDial
	}
	if s.HTTP != nil {
		return wire.Client{Provider: s.Name, Idle: 2 * patience, Secret: s.Secret, KeyHint: s.KeyHint, URLHint: s.URLHint, Door: s.Door, HTTP: wire.HTTP(s.HTTP)}
	}
	return wire.Client{
		Door: s.Door, Provider: s.Name, Idle: 2 * patience, Secret: s.Secret, KeyHint: s.KeyHint, URLHint: s.URLHint,
		HTTP: wire.HTTP(&http.Client{Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dial}).DialContext,
			ForceAttemptHTTP2: true, TLSHandshakeTimeout: patience,
		}}),
	}
}

type asker struct {
	server Server
	client wire.Client
}

func (a asker) models(ctx context.Context) ([]Model, error) {
	switch a.server.Kind {
	case LlamaCPP:
		return a.llamaCPP(ctx)
	case LMStudio:
		return a.lmStudio(ctx)
	}
	return a.list(ctx, a.listURL())
}

func (a asker) listURL() string {
	if a.server.List != "" {
		return a.server.List
	}
	return strings.TrimRight(a.server.Base, "/") + "/models"
}

// root returns the address without the version of the OpenAI-compatible API.
func (a asker) root() string {
	return strings.TrimSuffix(strings.TrimRight(a.server.Base, "/"), "/v1")
}

func (a asker) list(ctx context.Context, at string) ([]Model, error) {
	raw, err := a.get(ctx, at)
	if err != nil {
		return nil, err
	}
	entries, ok := entriesIn(raw)
	if !ok {
		return nil, a.noList(raw)
	}
	var out []Model
	for _, e := range entries {
		if m, ok := e.model(); ok {
			out = append(out, m)
		}
	}
	return out, nil
}

// noList returns an error that describes a response without a list.
func (a asker) noList(raw []byte) error {
	var said struct{ Error json.RawMessage }
	if json.Unmarshal(raw, &said) == nil && len(said.Error) > 0 && string(said.Error) != "null" {
		return a.client.Object(said.Error)
	}
	return a.client.Malformed(raw, false)
}

func (a asker) get(ctx context.Context, at string) ([]byte, error) {
	reply, err := a.client.Open(ctx, wire.Call{Method: http.MethodGet, URL: at, Header: a.server.Header})
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	raw, err := io.ReadAll(io.LimitReader(reply, maxList+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxList {
		return nil, a.client.Bad("sent a list of more than %s", fmt.Sprintf("%d MiB", maxList>>20))
	}
	return raw, nil
}

// absent reports whether the server has nothing at this address, so that another one is worth a
// try.
func absent(err error) bool {
	var failed *session.ProviderError
	return errors.As(err, &failed) && (failed.Status == http.StatusNotFound || failed.Status == http.StatusMethodNotAllowed)
}

// said reports an error object in a successful response, or a response without a list.
func said(err error) bool {
	var failed *session.ProviderError
	return errors.As(err, &failed) && failed.Status == 0 && failed.Kind != session.NetworkError
}
