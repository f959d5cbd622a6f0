package oauth

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"adze/internal/config/keyring"
)

// refreshPatience bounds a refresh; a call waits for it.
const refreshPatience = 20 * time.Second

// Keeper hands the login of one server to its connection: it is the OAuthHandler of a transport. A
// login that is needed is the error [Wanted]; for more scopes than a login has, the user is asked
// where there is one. It is safe for concurrent use.
type Keeper struct {
	server Server
	desk   Desk
	now    func() time.Time

	step  sync.Mutex // one asks for more at a time
	steps int        // how often that was

	mu     sync.Mutex
	kept   Kept
	known  bool
	refuse string // the access token that the server takes no more
	wanted *Wanted
	proves *proofTransport // with the key of the login, where its tokens are bound to one
	proof  string          // that key
}

// maxSteps bounds how often a connection asks for more scopes.
const maxSteps = 3

// Wanted is the login that the connection ended for; if nil, none.
func (k *Keeper) Wanted() *Wanted {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.wanted
}

// Keep makes a keeper of the logins at a desk; it reads nothing yet.
func (d Desk) Keep(s Server) *Keeper { return &Keeper{server: s, desk: d, now: time.Now} }

// TokenSource gives what the next request is sent with; if nil, there is no login.
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

// Token is a token that the server should take, refreshed where need be; if nil, there is no login.
func (k *Keeper) Token(ctx context.Context) (*oauth2.Token, error) {
	token, err := k.token(ctx)
	if token == nil && err == nil {
		return nil, nil // without a login nothing is known better than before
	}
	return token, k.note(err)
}

func (k *Keeper) token(ctx context.Context) (*oauth2.Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.current(ctx); err != nil || !k.known {
		return nil, err
	}
	return &oauth2.Token{AccessToken: k.kept.Access, TokenType: "Bearer", Expiry: k.kept.Expiry}, nil
}

// current has a token that the server should take, where there is a login; the lock is held.
func (k *Keeper) current(ctx context.Context) error {
	if k.server.Config.unattended() {
		if !k.known || k.good() {
			return nil // nobody has asked for one yet
		}
		return k.got(ctx, k.kept.Scopes)
	}
	if !k.known || !k.good() {
		if err := k.read(); err != nil || !k.known {
			return err
		}
	}
	if !k.good() {
		return k.refreshed(ctx)
	}
	return nil
}

// got gets a token that needs nobody; the lock is held.
func (k *Keeper) got(ctx context.Context, scopes []string) error {
	ctx, cancel := context.WithTimeout(ctx, refreshPatience)
	defer cancel()
	f, err := k.desk.find(ctx, k.server, Options{Issuer: k.server.Config.Issuer, Scopes: scopes})
	if err != nil {
		return explain(k.server.At.Host, err)
	}
	fresh, err := k.desk.unattended(ctx, f)
	if err != nil {
		return explain(f.issuer.Host, err)
	}
	k.desk.hide(fresh)
	k.kept, k.known = fresh, true
	return nil
}

func (k *Keeper) good() bool { return k.kept.valid(k.now()) && k.kept.Access != k.refuse }

// read takes what is kept by now.
func (k *Keeper) read() (err error) {
	k.kept, k.known, err = k.desk.Shelf.Of(k.server.At)
	k.desk.hide(k.kept)
	return err
}

// refreshed gets a new token from the issuer that gave the old one, unless another process did.
func (k *Keeper) refreshed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refreshPatience)
	defer cancel()
	return k.desk.Shelf.alone(ctx, func() error {
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
	client, err := proven(k.desk.Clients.Issuers(k.server.At, issuer), k.kept.Proof)
	if err != nil {
		return err
	}
	params, err := k.kept.asserting(k.server.Config)
	if err != nil {
		return err
	}
	params = append(params, oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", k.kept.Refresh),
		oauth2.SetAuthURLParam("resource", k.kept.Resource))
	token, err := k.kept.config().Exchange(with(ctx, client), "", params...) // an empty code is none (RFC 6749 3.2)
	var said *oauth2.RetrieveError
	switch {
	case errors.As(err, &said) && said.Response != nil && said.Response.StatusCode/100 == 4 && said.Response.StatusCode != http.StatusTooManyRequests:
		k.kept.Refresh = "" // it is not sent again
		_, err = k.desk.Shelf.Keep(k.server.At, k.kept)
		return errors.Join(&Wanted{Name: k.server.Name, Why: "its issuer does not prolong the last one"}, err)
	case err != nil:
		return explain(issuer.Host, err)
	}
	fresh, err := k.kept.take(token)
	if err != nil {
		return err
	}
	k.kept = fresh
	k.desk.hide(fresh)
	_, err = k.desk.Shelf.Keep(k.server.At, fresh)
	return err
}

// Authorize is called when the server refuses a request. A token that was refused is refreshed
// once, and one that lacks scopes is replaced where the user agrees; the request is sent again
// then.
func (k *Keeper) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxDescription))
	resp.Body.Close()
	said, _ := challengeOf(resp)
	lacks := scopesOf(said.params["scope"])
	switch sent := bearer(r); {
	case Lacks(resp):
		return k.more(ctx, sent, lacks) // the conversation goes on, whatever comes of it
	case resp.StatusCode == http.StatusForbidden:
		return refuse("look at what the account may do there", "%s does not allow this", k.server.Name)
	case sent == "" && k.server.Config.unattended():
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.known && k.good() { // another request got one
			return nil
		}
		return k.got(ctx, k.server.Config.Scopes)
	case sent == "":
		return k.note(&Wanted{Name: k.server.Name, Scopes: lacks})
	default:
		// A login that is under way ends the token that this request was sent with: it is waited for,
		// and nothing is refreshed then.
		k.step.Lock()
		k.mu.Lock()
		if sent == k.kept.Access {
			k.refuse = sent
		}
		k.mu.Unlock()
		k.step.Unlock()
	}
	_, err := k.Token(ctx)
	return err
}

// more gets a login with more scopes than the one that a request was sent with: all that it had,
// and those that the server says it lacks. One that has them already is not asked for again.
func (k *Keeper) more(ctx context.Context, sent string, lacks []string) error {
	k.step.Lock()
	defer k.step.Unlock()
	k.mu.Lock()
	var err error
	if !k.server.Config.unattended() {
		err = k.read() // another process may have logged in meanwhile
	}
	had := k.kept
	k.mu.Unlock()
	if err != nil || had.Access != sent { // another request got one meanwhile
		return err
	}
	all := slices.Clone(had.Scopes)
	for _, scope := range lacks {
		if !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	wanted := &Wanted{Name: k.server.Name, Scopes: all, Why: "the last one does not allow this", Alone: k.server.Config.unattended()}
	if len(all) == len(had.Scopes) || k.steps >= maxSteps {
		return wanted
	}
	k.steps++
	if k.server.Config.unattended() {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.got(ctx, all)
	}
	if k.desk.More == nil || !k.desk.More(ctx, k.server.Name, all) {
		return wanted
	}
	fresh, _, err := k.desk.Login(ctx, k.server, Options{Issuer: had.Issuer, Scopes: all})
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept, k.known = fresh, true
	return nil
}

// Proves sends the requests of a connection with a proof where the tokens of the login are bound to
// a key, and notices that the server takes them.
func (k *Keeper) Proves(next http.RoundTripper) http.RoundTripper { return &loginTransport{k, next} }

type loginTransport struct {
	keeper *Keeper
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b *loginTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	next := b.next
	p, err := b.keeper.proving(bearer(r), b.next)
	if err != nil {
		return nil, err
	}
	if p != nil {
		next = p
	}
	resp, err := next.RoundTrip(r)
	if err == nil && resp.StatusCode/100 == 2 {
		_ = b.keeper.note(nil) // a server may want a login for some requests alone
	}
	return resp, err
}

// proving sends requests with the proof of the token that they are sent with; if nil, it needs
// none.
func (k *Keeper) proving(sent string, next http.RoundTripper) (*proofTransport, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if sent == "" || sent != k.kept.Access || k.kept.Proof == "" {
		return nil, nil
	}
	if k.proof != k.kept.Proof {
		p, err := newProofTransport(next, k.kept.Proof)
		if err != nil {
			return nil, err
		}
		k.proves, k.proof = p, k.kept.Proof
	}
	return k.proves, nil
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
