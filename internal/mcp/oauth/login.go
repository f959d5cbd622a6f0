package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"adze/internal/mcp/remote"
)

// patience is how long a person has to say yes.
const patience = 5 * time.Minute

// Desk is where a person logs in.
type Desk struct {
	Shelf   Shelf
	Clients Clients
	Open    func(address string) error // in the person's browser; nil: there is none
	Tell    func(line string)          // the person
	Agree   func(issuer string) bool   // asks the person whether they log in there; nil: they do not
	Hide    func(secret string)        // has all that lasts hide a token; nil: nothing does
}

// Server is where a person logs in.
type Server struct {
	Name    string // as it is configured
	At      *url.URL
	Headers http.Header // that are configured
}

// Options are how a person logs in.
type Options struct {
	Issuer string   // that is meant; "": the server's own origin, or the one that Agree is asked about
	Client string   // a client that was registered by hand
	Secret string   // of it
	Scopes []string // nil: those that the server names
	Device bool     // the person says yes on another device
	Port   int      // of the address that the browser comes back to; 0: any
}

// found is what was learned before a person is asked.
type found struct {
	server   Server
	resource resource
	meta     metadata
	issuer   *url.URL
	client   *http.Client // for the issuer
	scopes   []string
}

// Login has a person log in at a server, and keeps what it brings. where says where for the user.
func (d Desk) Login(ctx context.Context, s Server, o Options) (k Kept, where string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f, err := d.find(ctx, s, o)
	if err != nil {
		return k, "", err
	}
	if o.Device {
		k, err = d.byDevice(ctx, f, o)
	} else {
		k, err = d.byBrowser(ctx, f, o)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		return k, "", refuse("adze mcp login "+s.Name+" begins anew", "nobody logged in within %s", patience)
	case err != nil:
		return k, "", explain(f.issuer.Host, err)
	}
	d.hide(k)
	where, err = d.Shelf.Keep(s.At, k)
	return k, where, err
}

func (d Desk) hide(k Kept) {
	for _, secret := range []string{k.Access, k.Refresh, k.Secret} {
		if d.Hide != nil && secret != "" {
			d.Hide(secret)
		}
	}
}

// find learns who gives tokens for a server.
func (d Desk) find(ctx context.Context, s Server, o Options) (f found, err error) {
	f.server = s
	if s.At.Scheme != "https" && !remote.Loopback(s.At) {
		return f, refuse("configure an address that begins with https", "%s is reached without TLS: a token could be read on the way", s.Name)
	}
	own := d.Clients.Server(s.At, s.Headers)
	params, open, err := challenge(ctx, own, s.At)
	if err != nil {
		return f, err
	}
	if open {
		return f, refuse("use it as it is", "%s wants no login", s.Name)
	}
	if f.resource, err = describe(ctx, own, s.At, params["resource_metadata"]); err != nil {
		return f, err
	}
	if f.issuer, err = d.choose(s, f.resource, o.Issuer); err != nil {
		return f, err
	}
	f.client = d.Clients.Issuers(s.At, f.issuer)
	if f.meta, err = ask(ctx, f.client, f.issuer, !f.resource.told); err != nil {
		return f, err
	}
	if f.scopes = o.Scopes; f.scopes == nil {
		f.scopes = scopesOf(params["scope"])
		for _, scope := range f.resource.Scopes {
			if len(scopesOf(params["scope"])) == 0 {
				f.scopes = append(f.scopes, scopesOf(scope)...)
			}
		}
		if slices.Contains(f.meta.ScopesSupported, "offline_access") && !slices.Contains(f.scopes, "offline_access") {
			f.scopes = append(f.scopes, "offline_access") // for a token that can be refreshed
		}
	}
	return f, nil
}

// choose picks the issuer: the one that the user named, the server's own origin, or one that they
// agree to.
func (d Desk) choose(s Server, r resource, named string) (*url.URL, error) {
	for _, raw := range r.Issuers {
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && !(u.Scheme == "http" && remote.Loopback(u)) {
			return nil, refuse("tell whoever runs it", "%s sends logins to an address that is not protected (%.200q)", s.Name, raw)
		}
		if named != "" && named != raw {
			continue
		}
		if named != "" || remote.SameOrigin(u, s.At) {
			return u, nil
		}
	}
	if named != "" {
		return nil, refuse("it names "+r.Issuers[0], "%s takes no logins of %s", s.Name, named)
	}
	u, _ := url.Parse(r.Issuers[0]) // it was parsed above
	if public := u.Scheme == "https"; public && d.Agree != nil && d.Agree(u.String()) {
		return u, nil
	}
	return nil, refuse("adze mcp login "+s.Name+" --issuer "+u.String()+" if you have an account there", "%s sends logins to another origin, %s", s.Name, u.String())
}

// register makes a client of ours known to the issuer, unless the user brings one.
func (f found) register(ctx context.Context, o Options, redirect string) (Kept, error) {
	k := Kept{Resource: f.resource.Resource, Issuer: f.meta.Issuer, Token: f.meta.TokenEndpoint, Revoke: f.meta.RevocationEndpoint,
		Client: o.Client, Secret: o.Secret, Scopes: f.scopes}
	methods := f.meta.TokenEndpointAuthMethodsSupported
	k.InHeader = k.Secret != "" && !slices.Contains(methods, "client_secret_post")
	if k.Client != "" {
		return k, nil
	}
	if f.meta.RegistrationEndpoint == "" {
		return k, refuse("register a client there, then adze mcp login "+f.server.Name+" --client-id ID", "%s lets no program register itself", f.issuer.Host)
	}
	grants := []string{"authorization_code", "refresh_token"}
	if o.Device {
		grants = []string{deviceGrant, "refresh_token"}
	}
	answer, err := oauthex.RegisterClient(ctx, f.meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		ClientName: "adze", RedirectURIs: []string{redirect}, GrantTypes: grants, ResponseTypes: []string{"code"},
		TokenEndpointAuthMethod: "none", ApplicationType: "native",
	}, f.client)
	if err != nil {
		return k, err
	}
	k.Client, k.Secret = answer.ClientID, answer.ClientSecret
	k.InHeader = k.Secret != "" && answer.TokenEndpointAuthMethod != "client_secret_post" && answer.TokenEndpointAuthMethod != "none"
	if answer.TokenEndpointAuthMethod == "none" {
		k.Secret = ""
	}
	return k, nil
}

// with has the library use a client.
func with(ctx context.Context, c *http.Client) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c)
}

// explain makes a refusal of an issuer one for the user. What it says beside a code is not shown:
// it may hold anything.
func explain(host string, err error) error {
	var said *oauth2.RetrieveError
	if !errors.As(err, &said) {
		return err
	}
	switch said.ErrorCode {
	case "access_denied":
		return refuse("log in again if you did not mean it", "the login at %s was refused there", host)
	case "expired_token":
		return refuse("begin anew", "the code of %s ran out before anybody took it", host)
	}
	if said.ErrorCode == "" && said.Response != nil {
		return refuse("try again later", "%s answers %s", host, said.Response.Status)
	}
	return refuse("begin anew; tell whoever runs it if it stays so", "%s refuses: %.100q", host, said.ErrorCode)
}
