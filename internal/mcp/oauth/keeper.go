package oauth

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"adze/internal/keyring"
)

// refreshPatience bounds a refresh; a call waits for it.
const refreshPatience = 20 * time.Second

// Keeper hands the login of one server to its connection: it is the OAuthHandler of a transport. It
// asks no person; a login that is needed is the error [Wanted]. It is safe for concurrent use.
type Keeper struct {
	server Server
	shelf  Shelf
	client func(named ...*url.URL) *http.Client
	hide   func(secret string)
	now    func() time.Time

	mu     sync.Mutex
	kept   Kept
	known  bool
	refuse string // the access token that the server takes no more
	wanted *Wanted
}

// Wanted is the login that the connection ended for; nil: none.
func (k *Keeper) Wanted() *Wanted {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.wanted
}

// Keep makes a keeper of the logins at a desk; it reads nothing yet.
func (d Desk) Keep(s Server) *Keeper {
	return &Keeper{server: s, shelf: d.Shelf, client: d.Clients.Issuers, hide: d.Hide, now: time.Now}
}

// TokenSource gives what the next request is sent with; nil: there is no login.
func (k *Keeper) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	token, err := k.Token(ctx)
	if err != nil || token == nil {
		return nil, err
	}
	return oauth2.StaticTokenSource(token), nil
}

// note remembers a login that is wanted.
func (k *Keeper) note(err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wanted = nil
	errors.As(err, &k.wanted)
	return err
}

// Token is a token that the server should take, refreshed where need be; nil: there is no login.
func (k *Keeper) Token(ctx context.Context) (*oauth2.Token, error) {
	token, err := k.token(ctx)
	return token, k.note(err)
}

func (k *Keeper) token(ctx context.Context) (*oauth2.Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.known || !k.good() {
		if err := k.read(); err != nil || !k.known {
			return nil, err
		}
	}
	if !k.good() {
		if err := k.refreshed(ctx); err != nil {
			return nil, err
		}
	}
	return &oauth2.Token{AccessToken: k.kept.Access, TokenType: "Bearer", Expiry: k.kept.Expiry}, nil
}

func (k *Keeper) good() bool { return k.kept.valid(k.now()) && k.kept.Access != k.refuse }

// read takes what is kept by now.
func (k *Keeper) read() (err error) {
	k.kept, k.known, err = k.shelf.Of(k.server.At)
	for _, secret := range []string{k.kept.Access, k.kept.Refresh, k.kept.Secret} {
		if k.hide != nil && secret != "" {
			k.hide(secret)
		}
	}
	return err
}

// refreshed gets a new token from the issuer that gave the old one, unless another process did.
func (k *Keeper) refreshed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refreshPatience)
	defer cancel()
	return k.shelf.alone(ctx, func() error {
		if err := k.read(); err != nil {
			return err
		}
		switch {
		case !k.known:
			return &Wanted{Name: k.server.Name, Why: "it was logged out"}
		case k.good():
			return nil
		case k.kept.Refresh == "":
			return &Wanted{Name: k.server.Name, Why: "the last one ran out"}
		}
		return k.refreshNow(ctx)
	})
}

func (k *Keeper) refreshNow(ctx context.Context) error {
	at, err := url.Parse(k.kept.Token)
	issuer, err2 := url.Parse(k.kept.Issuer)
	if err != nil || err2 != nil || !protected(at, issuer) {
		return &Wanted{Name: k.server.Name, Why: "where it refreshes is no protected address"}
	}
	token, err := k.kept.config().Exchange(with(ctx, k.client(k.server.At, issuer)), "", // an empty code is none (RFC 6749 3.2)
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", k.kept.Refresh),
		oauth2.SetAuthURLParam("resource", k.kept.Resource))
	var said *oauth2.RetrieveError
	switch {
	case errors.As(err, &said) && said.Response != nil && said.Response.StatusCode/100 == 4 && said.Response.StatusCode != http.StatusTooManyRequests:
		k.kept.Refresh = "" // it is not sent again
		_, err = k.shelf.Keep(k.server.At, k.kept)
		return errors.Join(&Wanted{Name: k.server.Name, Why: "its issuer does not prolong the last one"}, err)
	case err != nil:
		return explain(issuer.Host, err)
	}
	fresh, err := k.kept.take(token)
	if err != nil {
		return err
	}
	k.kept = fresh
	for _, secret := range []string{fresh.Access, fresh.Refresh} {
		if k.hide != nil && secret != "" {
			k.hide(secret)
		}
	}
	_, err = k.shelf.Keep(k.server.At, fresh)
	return err
}

// Authorize is called when the server refuses a request. A token that was refused is refreshed
// once; whatever else is needed, a person has to do.
func (k *Keeper) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxDescription))
	resp.Body.Close()
	var lacks []string
	scope := false
	if all, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate")); err == nil {
		for _, one := range all {
			if one.Scheme == "bearer" {
				lacks, scope = scopesOf(one.Params["scope"]), one.Params["error"] == "insufficient_scope"
			}
		}
	}
	switch sent := bearer(r); {
	case resp.StatusCode == http.StatusForbidden && scope:
		return &Wanted{Name: k.server.Name, Scopes: lacks, Why: "the last one does not allow this"} // the conversation goes on
	case resp.StatusCode == http.StatusForbidden:
		return refuse("look at what the account may do there", "%s does not allow this", k.server.Name)
	case sent == "":
		return k.note(&Wanted{Name: k.server.Name, Scopes: lacks})
	default:
		k.mu.Lock()
		k.refuse = sent
		k.mu.Unlock()
	}
	_, err := k.Token(ctx)
	return err
}

// bearer is the token that a request was sent with.
func bearer(r *http.Request) string {
	const kind = "Bearer "
	if h := r.Header.Get("Authorization"); len(h) > len(kind) && h[:len(kind)] == kind {
		return h[len(kind):]
	}
	return ""
}

// Logout forgets the login at a server, and tells its issuer where it can be told. ErrNone: there
// was none.
func (d Desk) Logout(ctx context.Context, s Server) (revoked bool, err error) {
	k, ok, err := d.Shelf.Of(s.At)
	if err == nil && ok && k.Revoke != "" {
		revoked = d.revoke(ctx, s, k)
	}
	err = d.Shelf.Forget(s.At)
	if errors.Is(err, keyring.ErrNone) {
		err = refuse("adze mcp login "+s.Name+" makes one", "no login at %s is kept", s.Name)
	}
	return revoked, err
}

// revoke tells the issuer that a login is over (RFC 7009).
func (d Desk) revoke(ctx context.Context, s Server, k Kept) bool {
	at, err := url.Parse(k.Revoke)
	issuer, err2 := url.Parse(k.Issuer)
	if err != nil || err2 != nil || !protected(at, issuer) {
		return false
	}
	token, hint := k.Refresh, "refresh_token"
	if token == "" {
		token, hint = k.Access, "access_token"
	}
	form := url.Values{"token": {token}, "token_type_hint": {hint}, "client_id": {k.Client}}
	if k.Secret != "" && !k.InHeader {
		form.Set("client_secret", k.Secret)
	}
	r, err := postForm(ctx, k.Revoke, form)
	if err != nil {
		return false
	}
	if k.InHeader {
		r.SetBasicAuth(url.QueryEscape(k.Client), url.QueryEscape(k.Secret))
	}
	resp, err := d.Clients.Issuers(s.At, issuer).Do(r)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
