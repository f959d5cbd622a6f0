// Package clouds lets the adapters of other packages talk to Amazon Bedrock, Google Vertex, Azure
// and gateways: where a model is, how a request is signed, and how an answer is framed. Each
// constructor returns a wire.Door.
//
// The one rule: credentials are made by their makers' modules or by programs of the user, live only
// in memory, and are renewed before a request, never inside a stream.
//
// Start at Tokens, then Bedrock, Vertex and Azure. machine.go has the credentials of clusters,
// containers and instances, frames.go decodes Amazon's event streams,
// converse.go converts between Converse and the Messages format.
//
// Known limits: of Amazon's ways to sign in, SSO and the roles of profiles need the aws program:
// Amazon's Go modules for them cost every start 3,300 allocations, and a login by SSO needs the
// program anyway. Converse sends thoughts back only to models that sign them.
package clouds

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"adze/internal/llm/wire"
	"adze/session"
)

// Env is what signing in needs of a process.
type Env struct {
	Getenv func(string) string
	HTTP   *http.Client // for requests of tokens
	// Run starts a program of the user and returns its output; ctx ends it.
	Run func(ctx context.Context, argv []string) ([]byte, error)
	// Hide redacts a credential in everything stored from now on.
	Hide func(string)
	Now  func() time.Time
}

// early is how long before its end a token is renewed: longer than a request takes to be accepted.
const early = 5 * time.Minute

// A Token is a credential; a zero Ends means that it has no known end.
type Token struct {
	Value string
	Ends  time.Time
}

// Tokens keeps a token and fetches the next one before it ends. It is safe for concurrent use.
type Tokens struct {
	name  string // of the sign-in, for messages
	env   Env
	fetch func(context.Context) (Token, error)

	turn chan struct{} // a mutex that respects contexts

	mu      sync.Mutex
	current Token
	known   bool
}

// NewTokens returns Tokens that call fetch. name begins a message, and hint is its next step.
func NewTokens(env Env, name string, fetch func(context.Context) (Token, error)) *Tokens {
	return &Tokens{name: name, env: env, fetch: fetch, turn: make(chan struct{}, 1)}
}

// Get returns a token that is valid for a while. The error is a *session.ProviderError or ctx's.
func (t *Tokens) Get(ctx context.Context) (string, error) {
	if token, ok := t.valid(); ok {
		return token, nil
	}
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-t.turn }()
	if token, ok := t.valid(); ok {
		return token, nil
	}
	token, err := t.fetch(ctx)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", refused(t.name, err)
	case token.Value == "":
		return "", refused(t.name, errors.New("it gave nothing"))
	}
	t.env.Hide(token.Value)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current, t.known = token, true
	return token.Value, nil
}

func (t *Tokens) valid() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ends := t.current.Ends
	return t.current.Value, t.known && (ends.IsZero() || t.env.Now().Add(early).Before(ends))
}

// Forget drops the token. It returns false if there was none.
func (t *Tokens) Forget() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	had := t.known
	t.known = false
	return had
}

// last returns the token that was used last.
func (t *Tokens) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current.Value
}

// Bearer returns a door that sends the token in a header, after scheme if that is set.
func (t *Tokens) Bearer(header, scheme string) wire.Door {
	return wire.Door{Renew: t.Forget, Secret: t.last, Sign: func(ctx context.Context, r *http.Request, _ *wire.Body) error {
		token, err := t.Get(ctx)
		if err == nil {
			r.Header.Set(header, scheme+token)
		}
		return err
	}}
}

// Key returns a door that sends a constant key in a header, after scheme.
func Key(header, scheme, key string) wire.Door {
	return wire.Door{Secret: func() string { return key }, Sign: func(_ context.Context, r *http.Request, _ *wire.Body) error {
		r.Header.Set(header, scheme+key)
		return nil
	}}
}

// hinted is an error with the user's next step.
type hinted struct {
	error
	hint string
}

// Unwrap returns the error without its hint.
func (h hinted) Unwrap() error { return h.error }

// refused returns an error for the user. Errors of the clouds' modules have many lines: the reason
// is in the server's answer, else in the first one.
func refused(name string, err error) error {
	var known *session.ProviderError
	if errors.As(err, &known) {
		return known
	}
	var next hinted
	var network *url.Error
	kind, hint := session.AuthError, "sign in again, or check which identity is used"
	switch {
	case errors.As(err, &network):
		kind, hint, err = session.NetworkError, "check the network", network.Err
	case errors.As(err, &next):
		hint = next.hint
	}
	text, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	if _, answer, described := strings.Cut(err.Error(), `"error_description":`); described {
		text, _, _ = strings.Cut(strings.TrimLeft(answer, ` "`), `"`)
	}
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return &session.ProviderError{Kind: kind, Message: name + ": " + cmp.Or(strings.TrimRight(text, ". "), "no credentials"), Hint: hint}
}
