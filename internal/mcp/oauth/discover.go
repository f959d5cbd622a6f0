package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"adze/internal/mcp/remote"
)

// metadata is what an issuer tells of itself (RFC 8414), with the device flow (RFC 8628).
type metadata struct {
	oauthex.AuthServerMeta
	Device  string   `json:"device_authorization_endpoint"`
	Proofs  []string `json:"dpop_signing_alg_values_supported"`
	guessed bool     // nobody told it
}

// pkce reports an issuer that binds a code to who asked for it.
func (m metadata) pkce() bool {
	return m.guessed || slices.Contains(m.CodeChallengeMethodsSupported, "S256")
}

// resource is what a server tells of itself (RFC 9728).
type resource struct {
	Resource string   `json:"resource"`
	Issuers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
	Bound    bool     `json:"dpop_bound_access_tokens_required"`
	told     bool     // by the server; else it is guessed
}

// challengeInfo is what a server says to a request without a token that it takes.
type challengeInfo struct {
	params map[string]string
	bound  bool // it wants tokens that are bound to a key
	open   bool // it wants none
}

// challengeOf reads what a server refuses a request with; if false, it says nothing of tokens.
func challengeOf(resp *http.Response) (c challengeInfo, ok bool) {
	all, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil { // what it says cannot be read; its well-known addresses are left
		return c, false
	}
	for _, one := range all {
		switch {
		case one.Scheme == "dpop":
			c.bound = true
		case one.Scheme != "bearer":
			continue
		}
		if c.params == nil || one.Scheme == "bearer" {
			c.params = one.Params
		}
		ok = true
	}
	return c, ok
}

// Lacks reports that a server refuses a request because its token lacks scopes.
func Lacks(resp *http.Response) bool {
	said, _ := challengeOf(resp)
	return resp.StatusCode == http.StatusForbidden && said.params["error"] == "insufficient_scope"
}

// challenge asks a server without a token, for what it says then.
func challenge(ctx context.Context, c *http.Client, server *url.URL) (said challengeInfo, err error) {
	ask := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.String(), ask)
	if err != nil {
		return said, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := c.Do(r)
	if err != nil {
		return said, err
	}
	resp.Body.Close()
	said, ok := challengeOf(resp)
	said.open = !ok && resp.StatusCode/100 == 2
	return said, nil
}

// describe finds what a server tells of its logins; without any word of it, it is its own issuer,
// as in the protocol of March 2025.
func describe(ctx context.Context, c *http.Client, server *url.URL, told string) (resource, error) {
	own := url.URL{Scheme: server.Scheme, Host: server.Host}
	places := []string{own.String() + "/.well-known/oauth-protected-resource/" + strings.TrimLeft(server.EscapedPath(), "/"), own.String() + "/.well-known/oauth-protected-resource"}
	if told != "" {
		u, err := url.Parse(told)
		if err != nil || !remote.SameOrigin(u, server) {
			return resource{}, refuse("tell whoever runs it", "%s has its logins described at another origin", server.Host)
		}
		places = []string{told}
	}
	for _, at := range places {
		var r resource
		found, err := fetch(ctx, c, at, &r)
		switch {
		case err != nil:
			return r, err
		case !found:
			continue
		case !covers(r.Resource, server):
			return r, refuse("configure the address that its logins are for", "%s describes logins for another server (%.200q)", server.Host, r.Resource)
		case len(r.Issuers) == 0:
			return r, refuse("tell whoever runs it", "%s names nobody who gives tokens for it", server.Host)
		}
		r.told = true
		return r, nil
	}
	if told != "" {
		return resource{}, refuse("try again later", "%s says where its logins are described, and nothing is there", server.Host)
	}
	return resource{Resource: server.String(), Issuers: []string{own.String()}}, nil
}

// covers reports that tokens for a resource are tokens for a server: the same origin, and its path
// or one above it.
func covers(named string, server *url.URL) bool {
	u, err := url.Parse(named)
	if err != nil || !remote.SameOrigin(u, server) || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return false
	}
	return strings.HasPrefix(strings.TrimRight(server.Path, "/")+"/", strings.TrimRight(u.Path, "/")+"/")
}

// ask finds what an issuer tells of itself. guess: it may tell nothing, then its endpoints are
// those of the protocol of March 2025.
func ask(ctx context.Context, c *http.Client, issuer *url.URL, guess bool) (m metadata, err error) {
	for _, at := range wellKnown(issuer) {
		found, err := fetch(ctx, c, at, &m)
		if err != nil {
			return m, err
		}
		if found {
			return m, m.check(issuer)
		}
		m = metadata{}
	}
	if !guess {
		return m, refuse("tell whoever runs it", "%s tells nothing of its logins", issuer.Host)
	}
	base := strings.TrimRight(issuer.String(), "/")
	m.guessed = true
	m.Issuer, m.AuthorizationEndpoint, m.TokenEndpoint, m.RegistrationEndpoint = issuer.String(), base+"/authorize", base+"/token", base+"/register"
	return m, nil
}

// wellKnown are the addresses at which an issuer tells of itself, in the order of the protocol.
func wellKnown(issuer *url.URL) []string {
	own := (&url.URL{Scheme: issuer.Scheme, Host: issuer.Host}).String()
	path := strings.TrimRight(issuer.EscapedPath(), "/")
	places := []string{own + "/.well-known/oauth-authorization-server" + path, own + "/.well-known/openid-configuration" + path}
	if path != "" {
		places = append(places, own+path+"/.well-known/openid-configuration")
	}
	return places
}

// check refuses what would send secrets elsewhere, or without protection.
func (m metadata) check(issuer *url.URL) error {
	if strings.TrimRight(m.Issuer, "/") != strings.TrimRight(issuer.String(), "/") {
		return refuse("do not log in there; tell whoever runs the server", "%s says that it is another issuer (%.200q)", issuer.Host, m.Issuer)
	}
	for name, raw := range map[string]string{"authorization": m.AuthorizationEndpoint, "token": m.TokenEndpoint, "registration": m.RegistrationEndpoint,
		"device authorization": m.Device, "revocation": m.RevocationEndpoint} {
		if raw == "" {
			continue
		}
		if u, err := url.Parse(raw); err != nil || !protected(u, issuer) {
			return refuse("tell whoever runs it", "%s names an address for %s that does not begin with https (%.200q)", issuer.Host, name, raw)
		}
	}
	if m.TokenEndpoint == "" {
		return refuse("tell whoever runs it", "%s does not say where it gives tokens", issuer.Host)
	}
	return nil
}

// protected reports an address under TLS; an issuer on this machine may do without it at its own
// origin.
func protected(u, issuer *url.URL) bool {
	if u.User != nil || u.Host == "" || u.Fragment != "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && remote.Loopback(u) && remote.SameOrigin(u, issuer)
}

// maxDescription bounds what a server or an issuer tells of itself, in bytes.
const maxDescription = 256 << 10

// fetch reads a description; found is false where none is.
func fetch(ctx context.Context, c *http.Client, at string, into any) (found bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return false, err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := c.Do(r)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode/100 == 4:
		return false, nil
	case resp.StatusCode != http.StatusOK:
		return false, refuse("try again later", "%s answers %s", at, remote.Status(resp))
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDescription+1))
	if err == nil && (len(raw) > maxDescription || json.Unmarshal(raw, into) != nil) {
		err = errors.New("it is no description of logins")
	}
	if err != nil {
		return false, refuse("tell whoever runs it", "what is at %s cannot be read: %v", at, err)
	}
	return true, nil
}
