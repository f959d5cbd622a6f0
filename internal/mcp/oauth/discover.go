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

// resource is a server's protected resource metadata (RFC 9728).
type resource struct {
	Resource string   `json:"resource"`
	Issuers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
	told     bool     // from the server; otherwise guessed
}

// challenge returns the Bearer challenge of a response, or nil.
func challenge(resp *http.Response) map[string]string {
	all, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil { // it cannot be parsed; try the well-known addresses
		return nil
	}
	for _, one := range all {
		if one.Scheme == "bearer" {
			return one.Params
		}
	}
	return nil
}

// LacksScopes reports whether a server refused a request because its token lacks scopes.
func LacksScopes(resp *http.Response) bool {
	return resp.StatusCode == http.StatusForbidden && challenge(resp)["error"] == "insufficient_scope"
}

// discover queries a server, without a token, for its issuers and the scopes it wants. A server
// without metadata is its own issuer, as in the protocol of March 2025.
func (m Manager) discover(ctx context.Context, s Server) (r resource, scopes []string, err error) {
	client := remote.Client(s.URL, s.Headers)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL.String(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		return r, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := client.Do(req)
	if err != nil {
		return r, nil, err
	}
	resp.Body.Close()
	said := challenge(resp)
	if r, err = describe(ctx, client, s.URL, said["resource_metadata"]); err != nil {
		return r, nil, err
	}
	if said == nil && resp.StatusCode/100 == 2 && !r.told { // a server with metadata wants a login for some of its calls
		return r, nil, remote.Refuse("use it as it is", "%s wants no login", s.Name)
	}
	if scopes = scopesOf(said["scope"]); len(scopes) == 0 {
		for _, one := range r.Scopes {
			scopes = append(scopes, scopesOf(one)...)
		}
	}
	return r, scopes, nil
}

// describe reads a server's metadata. The library requires the exact server address in it; here a
// parent address, which many servers name, counts too.
func describe(ctx context.Context, c *http.Client, server *url.URL, told string) (resource, error) {
	own := (&url.URL{Scheme: server.Scheme, Host: server.Host}).String()
	places := []string{own + "/.well-known/oauth-protected-resource/" + strings.TrimLeft(server.EscapedPath(), "/"), own + "/.well-known/oauth-protected-resource"}
	if told != "" {
		places = []string{told} // the client refuses another origin
	}
	for _, at := range places {
		r := resource{told: true}
		found, err := fetch(ctx, c, at, &r)
		switch {
		case err != nil:
			return r, err
		case !found:
			continue
		case !covers(r.Resource, server):
			return r, remote.Refuse("configure the address that its logins are for", "%s describes logins for another server (%.200q)", server.Host, r.Resource)
		case len(r.Issuers) == 0:
			return r, remote.Refuse("tell whoever runs it", "%s names nobody who gives tokens for it", server.Host)
		}
		return r, nil
	}
	if told != "" {
		return resource{}, remote.Refuse("try again later", "%s says where its logins are described, and nothing is there", server.Host)
	}
	return resource{Resource: server.String(), Issuers: []string{own}}, nil
}

// covers reports whether a resource's tokens are valid for a server: same origin, and the server's
// path or a parent.
func covers(named string, server *url.URL) bool {
	u, err := url.Parse(named)
	if err != nil || !remote.SameOrigin(u, server) || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return false
	}
	return strings.HasPrefix(strings.TrimRight(server.Path, "/")+"/", strings.TrimRight(u.Path, "/")+"/")
}

// trimmed removes trailing slashes, which many servers write and the library would look up.
func trimmed(issuer string) string { return strings.TrimRight(issuer, "/") }

// in bytes
const maxDescription = 256 << 10

// fetch reads a JSON document; found is false if there is none.
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
		return false, remote.Refuse("try again later", "%s answers %s", at, remote.Status(resp))
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDescription+1))
	if err == nil && (len(raw) > maxDescription || json.Unmarshal(raw, into) != nil) {
		err = errors.New("it is no description of logins")
	}
	if err != nil {
		return false, remote.Refuse("tell whoever runs it", "what is at %s cannot be read: %v", at, err)
	}
	return true, nil
}

// protected reports whether an address uses TLS or is on this machine.
func protected(u *url.URL) bool {
	return u.Host != "" && u.User == nil && u.Fragment == "" && (u.Scheme == "https" || u.Scheme == "http" && remote.Loopback(u))
}

// choose selects the issuer: the one the user named, the server's own origin if it is the only one,
// the issuer of the former login, or the user's choice.
func (m Manager) choose(ctx context.Context, s Server, issuers []string, named, former string) (*url.URL, error) {
	same := func(a, b string) bool { return trimmed(a) == trimmed(b) }
	var all []*url.URL
	for _, raw := range issuers {
		u, err := url.Parse(raw)
		if err != nil || u.RawQuery != "" || !protected(u) {
			return nil, remote.Refuse("tell whoever runs it", "%s sends logins to an address that is not protected (%.200q)", s.Name, raw)
		}
		if named != "" && same(named, raw) {
			return u, nil
		}
		all = append(all, u)
	}
	if named != "" {
		return nil, remote.Refuse("it names "+strings.Join(issuers, ", "), "%s takes no logins of %s", s.Name, named)
	}
	if len(all) == 1 && remote.SameOrigin(all[0], s.URL) {
		return all[0], nil
	}
	for _, u := range all {
		if same(former, u.String()) {
			return u, nil // the user agreed to it for this server
		}
	}
	if u := m.chosen(ctx, s, all); u != nil {
		return u, nil
	}
	for _, u := range all {
		if remote.SameOrigin(u, s.URL) && m.Choose == nil {
			return u, nil
		}
	}
	var names, flags []string
	for _, u := range all[:min(len(all), 8)] {
		names, flags = append(names, u.String()), append(flags, "--issuer "+u.String())
	}
	return nil, remote.Refuse("adze mcp login "+s.Name+" "+strings.Join(flags, ", or ")+", if you have an account there; \"issuer\" of its \"oauth\" in the configuration names it for good",
		"%s sends logins to another origin, %s", s.Name, strings.Join(names, ", "))
}

// chosen returns the issuer that the user selects. A remote server cannot offer an issuer on this
// machine: it would choose who answers there.
func (m Manager) chosen(ctx context.Context, s Server, all []*url.URL) *url.URL {
	var names []string
	for _, u := range all {
		if u.Scheme == "https" || remote.Loopback(s.URL) {
			names = append(names, u.String())
		}
	}
	if m.Choose == nil || len(names) == 0 {
		return nil
	}
	said := m.Choose(ctx, s.Name, names)
	if i := slices.IndexFunc(all, func(u *url.URL) bool { return u.String() == said }); i >= 0 && slices.Contains(names, said) {
		return all[i]
	}
	return nil
}
