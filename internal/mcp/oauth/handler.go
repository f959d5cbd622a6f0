package oauth

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"adze/internal/config/keyring"
	"adze/internal/mcp/remote"
)

// refreshPatience limits a refresh; a call waits for it.
const refreshPatience = 20 * time.Second

// A Handler supplies a server's login to its connection, as the transport's OAuthHandler. If a
// login is needed, it fails with [LoginRequired]; if the login lacks scopes, it asks the user. It
// is safe for concurrent use.
type Handler struct {
	server  Server
	manager Manager
	now     func() time.Time

	step  sync.Mutex // serializes requests for more scopes
	steps int        // number of such requests

	mu       sync.Mutex
	login    Login
	known    bool
	refused  string // access token that the server refused
	required *LoginRequired
}

const maxSteps = 3

// Handler returns a handler for a server's login. It reads nothing yet.
func (m Manager) Handler(s Server) *Handler { return &Handler{server: s, manager: m, now: time.Now} }

// Required returns the login that ended the connection, or nil.
func (h *Handler) Required() *LoginRequired {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.required
}

func (h *Handler) note(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.required = nil
	errors.As(err, &h.required)
	return err
}

// TokenSource returns the source for the next request, or nil if there is no login.
func (h *Handler) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	token, err := h.Token(ctx)
	if err != nil || token == nil {
		return nil, err
	}
	return oauth2.StaticTokenSource(token), nil
}

// Token returns a valid token, refreshed if needed, or nil if there is no login.
func (h *Handler) Token(ctx context.Context) (*oauth2.Token, error) {
	h.mu.Lock()
	err := h.update(ctx)
	known, login := h.known, h.login
	h.mu.Unlock()
	switch {
	case err != nil:
		return nil, h.note(err)
	case !known:
		return nil, nil // without a login nothing else is known
	}
	return &oauth2.Token{AccessToken: login.Access, TokenType: "Bearer", Expiry: login.Expiry}, h.note(nil)
}

// update makes the login's token valid, if there is a login. The caller holds the lock.
func (h *Handler) update(ctx context.Context) error {
	if h.server.Config.unattended() {
		if !h.known || h.good() {
			return nil // the server has not asked for a token yet
		}
		return h.renew(ctx, h.login.Scopes)
	}
	if !h.known || !h.good() {
		if err := h.read(); err != nil || !h.known {
			return err
		}
	}
	if !h.good() {
		return h.refresh(ctx)
	}
	return nil
}

// renew gets a token without a user. The caller holds the lock.
func (h *Handler) renew(ctx context.Context, scopes []string) error {
	ctx, cancel := context.WithTimeout(ctx, refreshPatience)
	defer cancel()
	fresh, err := h.manager.unattended(ctx, h.server, scopes)
	if err != nil {
		return err
	}
	h.take(fresh, true)
	return nil
}

func (h *Handler) good() bool { return h.login.valid(h.now()) && h.login.Access != h.refused }

func (h *Handler) take(l Login, known bool) {
	h.login, h.known = l, known
	h.manager.hide(l.Access, l.Refresh, l.Secret, l.Key)
}

// read loads the stored login. The caller holds the lock.
func (h *Handler) read() error {
	login, known, err := h.manager.Store.Login(h.server.URL)
	if err == nil && login.Key != "" {
		err = &LoginRequired{Name: h.server.Name, Reason: "the last one is bound to a key (DPoP), which adze does not use any more"}
	}
	h.take(login, known)
	return err
}

// refresh gets a new token from the old token's issuer, unless another process has done so. The
// caller holds the lock.
func (h *Handler) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refreshPatience)
	defer cancel()
	return h.manager.Store.alone(ctx, func() error {
		if err := h.read(); err != nil {
			return err
		}
		switch {
		case !h.known:
			return &LoginRequired{Name: h.server.Name, Reason: "it was logged out"}
		case h.good():
			return nil
		case h.login.Refresh == "":
			return &LoginRequired{Name: h.server.Name, Reason: "the last one ran out"}
		}
		return h.refreshNow(ctx)
	})
}

func (h *Handler) refreshNow(ctx context.Context) error {
	at, err := url.Parse(h.login.Token)
	issuer, err2 := url.Parse(h.login.Issuer)
	if err != nil || err2 != nil || !protected(at) {
		return &LoginRequired{Name: h.server.Name, Reason: "where it refreshes is no protected address"}
	}
	client := remote.Issuers(h.server.URL, issuer)
	token, err := h.login.config().Exchange(withClient(ctx, client), "", oauth2.SetAuthURLParam("grant_type", "refresh_token"), // an empty code counts as absent (RFC 6749 section 3.2)
		oauth2.SetAuthURLParam("refresh_token", h.login.Refresh), oauth2.SetAuthURLParam("resource", h.login.Resource))
	var said *oauth2.RetrieveError
	switch {
	case errors.As(err, &said) && said.Response != nil && said.Response.StatusCode/100 == 4 && said.Response.StatusCode != http.StatusTooManyRequests:
		h.login.Refresh = "" // never send it again
		_, err = h.manager.Store.Keep(h.server.URL, h.login)
		return errors.Join(&LoginRequired{Name: h.server.Name, Reason: "its issuer does not prolong the last one"}, err)
	case err != nil:
		return explain(issuer.Host, err)
	}
	fresh, err := h.login.with(token)
	if err != nil {
		return err
	}
	h.take(fresh, true)
	_, err = h.manager.Store.Keep(h.server.URL, fresh)
	return err
}

// Authorize is called when the server refuses a request. It refreshes a refused token once, and
// replaces one that lacks scopes if the user agrees; the request is then sent again.
func (h *Handler) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxDescription))
	resp.Body.Close()
	lacks := scopesOf(challenge(resp)["scope"])
	_, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case LacksScopes(resp):
		return h.addScopes(ctx, sent, lacks) // the connection continues in any case
	case resp.StatusCode == http.StatusForbidden:
		return remote.Refuse("look at what the account may do there", "%s does not allow this", h.server.Name)
	case sent == "" && h.server.Config.unattended():
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.known && h.good() { // another request got one
			return nil
		}
		return h.renew(ctx, h.server.Config.Scopes)
	case sent == "":
		return h.note(&LoginRequired{Name: h.server.Name, Scopes: lacks})
	default:
		// A login in progress replaces this request's token: wait for it and do not refresh.
		h.step.Lock()
		h.mu.Lock()
		if sent == h.login.Access {
			h.refused = sent
		}
		h.mu.Unlock()
		h.step.Unlock()
	}
	_, err := h.Token(ctx)
	return err
}

// addScopes gets a login with the former scopes and those that the server demands. It does nothing
// if the login has them already.
func (h *Handler) addScopes(ctx context.Context, sent string, lacks []string) error {
	h.step.Lock()
	defer h.step.Unlock()
	unattended := h.server.Config.unattended()
	h.mu.Lock()
	var err error
	if !unattended {
		err = h.read() // another process may have logged in
	}
	former := h.login
	h.mu.Unlock()
	if err != nil || former.Access != sent { // another request got one
		return err
	}
	all := slices.Clone(former.Scopes)
	for _, scope := range lacks {
		if !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	required := &LoginRequired{Name: h.server.Name, Scopes: all, Reason: "the last one does not allow this", Unattended: unattended}
	if len(all) == len(former.Scopes) || h.steps >= maxSteps {
		return required
	}
	h.steps++
	if unattended {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.renew(ctx, all)
	}
	if h.manager.RequestScopes == nil || !h.manager.RequestScopes(ctx, h.server.Name, all) {
		return required
	}
	fresh, _, err := h.manager.Login(ctx, h.server, Options{Issuer: former.Issuer, Scopes: all})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.take(fresh, true)
	return nil
}

// Watch records the requests that the server accepts: it may want a login for some requests only.
func (h *Handler) Watch(next http.RoundTripper) http.RoundTripper { return watched{h, next} }

type watched struct {
	handler *Handler
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r)
	if err == nil && resp.StatusCode/100 == 2 {
		_ = w.handler.note(nil)
	}
	return resp, err
}

// Logout deletes the login for a server and revokes it at its issuer if possible.
func (m Manager) Logout(ctx context.Context, s Server) (revoked bool, err error) {
	l, ok, err := m.Store.Login(s.URL)
	if err == nil && ok {
		revoked = m.revoke(ctx, s, l)
	}
	err = m.Store.Forget(s.URL)
	if errors.Is(err, keyring.ErrNone) {
		err = remote.Refuse("adze mcp login "+s.Name+" makes one", "no login at %s is kept", s.Name)
	}
	return revoked, err
}

// revoke revokes a login (RFC 7009) and reports whether the issuer accepted it.
func (m Manager) revoke(ctx context.Context, s Server, l Login) bool {
	issuer, err := url.Parse(l.Issuer)
	if err != nil {
		return false
	}
	client := remote.Issuers(s.URL, issuer)
	meta, err := metadataOf(ctx, client, issuer)
	if err != nil || meta.RevocationEndpoint == "" {
		return false
	}
	at, err := url.Parse(meta.RevocationEndpoint)
	if err != nil || !protected(at) {
		return false
	}
	token, hint := l.Refresh, "refresh_token"
	if token == "" {
		token, hint = l.Access, "access_token"
	}
	form := url.Values{"token": {token}, "token_type_hint": {hint}, "client_id": {l.Client}}
	if l.Secret != "" && !l.InHeader {
		form.Set("client_secret", l.Secret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return false
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if l.InHeader {
		r.SetBasicAuth(url.QueryEscape(l.Client), url.QueryEscape(l.Secret))
	}
	resp, err := client.Do(r)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
