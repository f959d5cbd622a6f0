package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"adze/internal/mcp/remote"
)

// patience is the time a user has to log in.
const patience = 5 * time.Minute

// A Manager logs users in at servers and stores the logins.
type Manager struct {
	Store Store
	Open  func(address string) error // opens the user's browser; nil if there is none
	Print func(line string)          // prints a line to the user
	Hide  func(secret string)        // masks a token in stored data; may be nil
	// Choose asks the user for an issuer if a server has several or one of another origin; "" means
	// none. If nil, nobody can answer.
	Choose func(ctx context.Context, server string, issuers []string) string
	// RequestScopes asks the user to log in again because a call needs more scopes. If nil, nobody can
	// answer.
	RequestScopes func(ctx context.Context, server string, scopes []string) bool
}

// A Server is a server with logins.
type Server struct {
	Name    string // configured name
	URL     *url.URL
	Headers http.Header // configured headers
	Config  Config
}

// Options holds settings for one login. Unset ones come from the server's configuration, then from
// the former login.
type Options struct {
	Issuer   string   // "" for the server's origin or the result of Choose
	Client   string   // ID of a client that the user registered
	Secret   string   // the client's
	Metadata string   // URL of a document that describes the client
	Scopes   []string // nil for the server's defaults
	Port     int      // of the redirect address; 0 for any
}

func (o Options) complete(c Config) (Options, error) {
	if o.Issuer == "" {
		o.Issuer = c.Issuer
	}
	if o.Client == "" && c.Client.ID != "" {
		secret, err := c.Client.Secret.read()
		if err != nil {
			return o, err
		}
		o.Client, o.Secret = c.Client.ID, secret
	}
	if o.Metadata == "" {
		o.Metadata = c.Metadata
	}
	if o.Scopes == nil {
		o.Scopes = c.Scopes
	}
	return o, nil
}

// Login logs the user in with their browser and stores the login. where describes the storage for
// the user.
func (m Manager) Login(ctx context.Context, s Server, o Options) (l Login, where string, err error) {
	if s.Config.unattended() {
		return l, "", remote.Refuse("adze mcp test "+s.Name+" tries it", "%s needs no login: its tokens are got by %s", s.Name, s.Config.Grant)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if o, err = o.complete(s.Config); err != nil {
		return l, "", err
	}
	l, err = m.login(ctx, s, o)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		return l, "", remote.Refuse("adze mcp login "+s.Name+" begins anew", "nobody logged in within %s", patience)
	case err != nil:
		return l, "", err
	}
	m.hide(l.Access, l.Refresh, l.Secret)
	where, err = m.Store.Keep(s.URL, l)
	return l, where, err
}

func (m Manager) login(ctx context.Context, s Server, o Options) (l Login, err error) {
	if err := secured(s); err != nil {
		return l, err
	}
	r, scopes, err := m.discover(ctx, s)
	if err != nil {
		return l, explain(s.URL.Host, err)
	}
	former, _, _ := m.Store.Login(s.URL) // on an error, treat it as the first login
	issuer, err := m.choose(ctx, s, r.Issuers, o.Issuer, former.Issuer)
	if err != nil {
		return l, err
	}
	if o.Client == "" && former.UserClient && trimmed(former.Issuer) == trimmed(issuer.String()) {
		o.Client, o.Secret = former.Client, former.Secret
		if o.Port == 0 {
			o.Port = former.Port
		}
	}
	if o.Scopes == nil {
		o.Scopes = scopes
	}
	l = Login{Resource: r.Resource, Issuer: trimmed(issuer.String()), UserClient: o.Client != "", Port: o.Port}
	if l, err = m.byBrowser(ctx, s, o, l, r); err != nil {
		return l, explain(issuer.Host, err)
	}
	return l, nil
}

// secured refuses a server whose tokens could be read in transit.
func secured(s Server) error {
	if s.URL.Scheme != "https" && !remote.Loopback(s.URL) {
		return remote.Refuse("configure an address that begins with https", "%s is reached without TLS: a token could be read on the way", s.Name)
	}
	return nil
}

// byBrowser runs the library's login with a redirect to this machine (RFC 8252).
func (m Manager) byBrowser(ctx context.Context, s Server, o Options, l Login, r resource) (Login, error) {
	at, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return l, fmt.Errorf("wait for the browser: %w", err)
	}
	back := newCallback(at, m.Print)
	defer back.close()
	issuer, err := url.Parse(l.Issuer)
	if err != nil {
		return l, err
	}
	client := *remote.Issuers(s.URL, issuer)
	if r.told {
		r.Issuers = []string{l.Issuer}
		client.Transport = described{r, client.Transport}
	} else {
		client.Transport = described{next: client.Transport}
	}
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back.address(), Client: &client, RequestRefreshToken: true,
		ScopeFilter: func([]string) []string { return o.Scopes },
		AuthorizationCodeFetcher: func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return m.fetchCode(ctx, back, a.URL)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			l.Client, l.Secret, l.Token, l.Scopes = c.ClientID, c.ClientSecret, c.Endpoint.TokenURL, slices.Clone(o.Scopes)
			for _, scope := range c.Scopes { // such as offline_access, which the library adds in any order
				if !slices.Contains(l.Scopes, scope) {
					l.Scopes = append(l.Scopes, scope)
				}
			}
			l.InHeader = l.Secret != "" && c.Endpoint.AuthStyle != oauth2.AuthStyleInParams
			var err error
			l, err = l.with(t)
			return oauth2.StaticTokenSource(t), err
		},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "adze", RedirectURIs: []string{back.address()}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}},
	}
	if meta, err := metadataOf(ctx, remote.Issuers(s.URL, issuer), issuer); err == nil { // otherwise the library reports the error
		for _, method := range []string{"client_secret_basic", "client_secret_post", "none"} { // the last supported one wins
			if slices.Contains(meta.TokenEndpointAuthMethodsSupported, method) {
				config.DynamicClientRegistrationConfig.Metadata.TokenEndpointAuthMethod = method
			}
		}
	}
	switch {
	case o.Client != "":
		config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: o.Client}
		if o.Secret != "" {
			config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: o.Secret}
		}
	case o.Metadata != "":
		config.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: o.Metadata}
	}
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return l, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.Resource, nil)
	if err != nil {
		return l, err
	}
	return l, handler.Authorize(ctx, request, &http.Response{StatusCode: http.StatusUnauthorized, Body: http.NoBody})
}

// described serves the stored metadata with the chosen issuer in place of a request to the server,
// since the library would use the first issuer. Without metadata it responds with 404.
type described struct {
	resource
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (d described) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
		return d.next.RoundTrip(r)
	}
	resp := &http.Response{StatusCode: http.StatusNotFound, Request: r, Body: http.NoBody, Header: http.Header{"Content-Type": {"application/json"}}}
	if d.told {
		raw, err := json.Marshal(d.resource)
		if err != nil {
			return nil, err
		}
		resp.StatusCode, resp.Body = http.StatusOK, io.NopCloser(bytes.NewReader(raw))
	}
	return resp, nil
}

// hide masks secrets in all stored data.
func (m Manager) hide(secrets ...string) {
	for _, secret := range secrets {
		if m.Hide != nil && secret != "" {
			m.Hide(secret)
		}
	}
}

// explain turns a network error or an issuer's refusal into one sentence. The issuer's own
// description is not shown: it may contain anything.
func explain(host string, err error) error {
	var said *oauth2.RetrieveError
	var unregistered *oauthex.ClientRegistrationError
	const tell = "begin anew; tell whoever runs it if it stays so"
	switch {
	case errors.As(err, &unregistered):
		return remote.Refuse("register a client there by hand, then give its id with --client-id", "%s does not register this program (%.60q)", host, unregistered.ErrorCode)
	case !errors.As(err, &said):
		plain := remote.Explain(host, err)
		if strings.Contains(err.Error(), "no configured client registration methods") { // the library has no type for it
			return remote.Refuse("register a client there, then give its id with --client-id; or publish a document about this client, and name it with --client-metadata", "%s lets no program register itself", host)
		}
		if plain != err || errors.Is(err, context.Canceled) || errors.As(err, new(*remote.Error)) {
			return plain
		}
		return remote.Refuse(tell, "the login at %s failed: %.400q", host, err.Error())
	}
	switch said.ErrorCode {
	case "access_denied":
		return remote.Refuse("log in again if you did not mean it", "the login at %s was refused there", host)
	case "invalid_client", "unauthorized_client":
		return remote.Refuse("check the client's id, its secret or key, and what it was registered for", "%s does not take this client (%s)", host, said.ErrorCode)
	case "invalid_scope":
		return remote.Refuse("ask for others with --scope, or with \"scope\" in the configuration", "%s does not give the scopes that were asked for", host)
	}
	if said.ErrorCode == "" && said.Response != nil {
		return remote.Refuse("try again later", "%s answers %s", host, remote.Status(said.Response))
	}
	return remote.Refuse(tell, "%s refuses: %.100q", host, said.ErrorCode)
}
