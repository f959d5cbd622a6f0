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

// Bounds of asking.
const (
	// maxList bounds one answer in bytes: the longest list known, of a company with 400 models, has
	// 600 kB.
	maxList = 8 << 20
	// nearDial is how long this machine may take to accept a connection.
	nearDial = 300 * time.Millisecond
	// nearTime and farTime bound all of it, for a server on this machine and for any other.
	nearTime = time.Second
	farTime  = 5 * time.Second
)

// Kind says which program a server is; it decides what is asked beside the list.
type Kind string

// The kinds. Any is a server of which nothing but the list is known.
const (
	Any      Kind = ""
	LlamaCPP Kind = "llamacpp"
	LMStudio Kind = "lmstudio"
	VLLM     Kind = "vllm"
)

// Server is where to ask.
type Server struct {
	Kind Kind
	Name string // in messages
	// Base is the address of the API up to and with its version: "http://127.0.0.1:8080/v1".
	Base   string
	List   string // where the list is; if empty, Base + "/models"
	Header http.Header
	Secret string // masked in every message
	// KeyHint and URLHint are the next moves after a refused key and an unreachable server.
	KeyHint, URLHint string
	Patience         time.Duration // for all of it; if 0, 1 s on this machine, else 5 s
}

// Model is what a server tells of one model.
type Model struct {
	Name string
	// Context is how many tokens fit into a request with its answer as the server runs the model now,
	// and Trained how many the model could take. if 0, not told.
	Context, Trained int
	Output           int // tokens of the longest answer; if 0, not told
	Size             int64
	Running          int // the context that it has in memory; if 0, not told
	Tools            *bool
	Vision           *bool
	Thinking         *bool
	Loaded           *bool // if nil, the server does not tell, which servers of one model never do
	Owner            string
	// Rates are USD for a million tokens; if nil, not told.
	Input, Answer *float64
}

// Limit is the largest request that can fit: the context of the running model, else what it was
// trained for.
func (m Model) Limit() int {
	if m.Context > 0 {
		return m.Context
	}
	return m.Trained
}

// Models asks the server. The error is a *session.ProviderError, or ctx's error when the caller
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

// patience is how long all of it may take.
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

// client asks a server. The context of a question ends it: the client is the more patient of the
// two, so that a server that says nothing in time is never taken for one that cannot be reached.
func (s Server) client(patience time.Duration) wire.Client {
	dial := patience
	if s.near() {
		dial = nearDial
	}
	return wire.Client{
		Provider: s.Name, Idle: 2 * patience, Secret: s.Secret, KeyHint: s.KeyHint, URLHint: s.URLHint,
		HTTP: wire.HTTP(&http.Client{Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dial}).DialContext,
			ForceAttemptHTTP2: true, TLSHandshakeTimeout: patience,
		}}),
	}
}

// asker is one question to one server.
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

// root is the address without the version of the OpenAI-compatible API.
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

// noList tells what came in place of a list.
func (a asker) noList(raw []byte) error {
	var said struct{ Error json.RawMessage }
	if json.Unmarshal(raw, &said) == nil && len(said.Error) > 0 && string(said.Error) != "null" {
		return a.client.Object(said.Error)
	}
	return a.client.Malformed(raw, false)
}

// get reads one answer whole.
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

// absent reports that a server has nothing at this address: another one may tell.
func absent(err error) bool {
	var failed *session.ProviderError
	return errors.As(err, &failed) && (failed.Status == http.StatusNotFound || failed.Status == http.StatusMethodNotAllowed)
}

// said reports an error object in a good answer, or an answer that is no list.
func said(err error) bool {
	var failed *session.ProviderError
	return errors.As(err, &failed) && failed.Status == 0 && failed.Kind != session.NetworkError
}
