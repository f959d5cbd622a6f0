package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"adze/internal/mcp/remote"
)

// patience is how long a user has to say yes.
const patience = 5 * time.Minute

// Desk is where a user logs in.
type Desk struct {
	Shelf   Shelf
	Clients Clients
	Open    func(address string) error // in the user's browser; if nil, there is none
	Tell    func(line string)          // the user
	Hide    func(secret string)        // has all that lasts hide a token; if nil, nothing does
	// Choose asks the user where they log in at a server: at one of several issuers, or at the one that
	// is another origin than the server's. if "", at none. if nil, nobody is there.
	Choose func(ctx context.Context, server string, issuers []string) string
	// More asks the user whether they log in again at a server, because a call needs more scopes than
	// their login has. if nil, nobody is there.
	More func(ctx context.Context, server string, scopes []string) bool
}

// Server is where a user logs in.
type Server struct {
	Name    string // as it is configured
	At      *url.URL
	Headers http.Header // that are configured
	Config  Config
}

// Options are how a user logs in; what they leave out is as the server's configuration has it, then
// as it was for the login before.
type Options struct {
	Issuer   string   // that is meant; if "", the server's own origin, or the one that Choose answers
	Client   string   // a client that was registered by hand
	Secret   string   // of it
	Metadata string   // the address of a document that describes the client
	Scopes   []string // if nil, those that the server names
	Device   bool     // the user says yes on another device
	Port     int      // of the address that the browser comes back to; if 0, any
}

// found is what was learned before a user is asked.
type found struct {
	server   Server
	resource resource
	meta     metadata
	issuer   *url.URL
	client   *http.Client // for the issuer
	scopes   []string
	former   Kept   // the login before; the zero value: there was none
	proof    string // the key that tokens are to be bound to; if empty, they are not
}

// Login has a user log in at a server, and keeps what it brings. where says where for the user.
func (d Desk) Login(ctx context.Context, s Server, o Options) (k Kept, where string, err error) {
	if s.Config.unattended() {
		return k, "", refuse("adze mcp test "+s.Name+" tries it", "%s needs no login: its tokens are got by %s", s.Name, s.Config.Grant)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if o, err = o.filled(s.Config); err != nil {
		return k, "", err
	}
	f, err := d.find(ctx, s, o)
	if err != nil {
		return k, "", explain(s.At.Host, err)
	}
	if o.Client == "" && f.former.Given && f.former.Issuer == f.meta.Issuer {
		o.Client, o.Secret = f.former.Client, f.former.Secret
		if o.Port == 0 {
			o.Port = f.former.Port
		}
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

// filled takes what is left out from the configuration.
func (o Options) filled(c Config) (Options, error) {
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

func (d Desk) hide(k Kept) { d.hidden(k.Access, k.Refresh, k.Secret, k.Proof) }

// hidden has all that lasts hide secrets.
func (d Desk) hidden(secrets ...string) {
	for _, secret := range secrets {
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
	said, err := challenge(ctx, own, s.At)
	if err != nil {
		return f, err
	}
	if f.resource, err = describe(ctx, own, s.At, said.params["resource_metadata"]); err != nil {
		return f, err
	}
	if said.open && !f.resource.told { // one that describes its logins wants them for some of its calls
		return f, refuse("use it as it is", "%s wants no login", s.Name)
	}
	f.former, _, _ = d.Shelf.Of(s.At) // without it, it is the first one
	if f.issuer, err = d.choose(ctx, f, o.Issuer); err != nil {
		return f, err
	}
	f.client = d.Clients.Issuers(s.At, f.issuer)
	if f.meta, err = ask(ctx, f.client, f.issuer, !f.resource.told); err != nil {
		return f, err
	}
	if (said.bound || f.resource.Bound) && slices.Contains(f.meta.Proofs, "ES256") {
		if f.proof, err = newProofKey(); err != nil {
			return f, err
		}
		if f.client, err = proven(f.client, f.proof); err != nil {
			return f, err
		}
	}
	if f.scopes = o.Scopes; f.scopes == nil {
		f.scopes = f.named(said)
	}
	return f, nil
}

// proven is a client whose requests prove that they come from who has a key; without a key it is
// the client itself.
func proven(c *http.Client, key string) (*http.Client, error) {
	if key == "" {
		return c, nil
	}
	p, err := newProofTransport(c.Transport, key)
	proves := *c
	proves.Transport = p
	return &proves, err
}

// named are the scopes that a server names for who logs in first.
func (f found) named(said challengeInfo) []string {
	scopes := scopesOf(said.params["scope"])
	if len(scopes) == 0 {
		for _, scope := range f.resource.Scopes {
			scopes = append(scopes, scopesOf(scope)...)
		}
	}
	if !f.server.Config.unattended() && slices.Contains(f.meta.ScopesSupported, "offline_access") && !slices.Contains(scopes, "offline_access") {
		scopes = append(scopes, "offline_access") // for a token that can be refreshed
	}
	return scopes
}

// choose picks the issuer: the one that the user named, the server's own origin if it is the only
// one, the one of the login before, or one that the user chooses.
func (d Desk) choose(ctx context.Context, f found, named string) (*url.URL, error) {
	s := f.server
	var all []*url.URL
	for _, raw := range f.resource.Issuers {
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && !(u.Scheme == "http" && remote.Loopback(u)) {
			return nil, refuse("tell whoever runs it", "%s sends logins to an address that is not protected (%.200q)", s.Name, raw)
		}
		if named != "" && strings.TrimRight(named, "/") == strings.TrimRight(raw, "/") {
			return u, nil
		}
		all = append(all, u)
	}
	if named != "" {
		return nil, refuse("it names "+strings.Join(f.resource.Issuers, ", "), "%s takes no logins of %s", s.Name, named)
	}
	if len(all) == 1 && remote.SameOrigin(all[0], s.At) {
		return all[0], nil
	}
	for _, u := range all {
		if strings.TrimRight(f.former.Issuer, "/") == strings.TrimRight(u.String(), "/") {
			return u, nil // they agreed to it for this server
		}
	}
	if u := d.chosen(ctx, s, all); u != nil {
		return u, nil
	}
	for _, u := range all {
		if remote.SameOrigin(u, s.At) && d.Choose == nil {
			return u, nil
		}
	}
	var names, flags []string
	for _, u := range all[:min(len(all), 8)] {
		names, flags = append(names, u.String()), append(flags, "--issuer "+u.String())
	}
	return nil, refuse("adze mcp login "+s.Name+" "+strings.Join(flags, ", or ")+", if you have an account there; \"issuer\" of its \"oauth\" in the configuration names it for good",
		"%s sends logins to another origin, %s", s.Name, strings.Join(names, ", "))
}

// chosen is what the user chooses among the issuers of a server. One on this machine is not
// offered by a server elsewhere: it would choose what answers there.
func (d Desk) chosen(ctx context.Context, s Server, all []*url.URL) *url.URL {
	if d.Choose == nil {
		return nil
	}
	var names []string
	for _, u := range all {
		if u.Scheme == "https" || remote.Loopback(s.At) {
			names = append(names, u.String())
		}
	}
	if len(names) == 0 {
		return nil
	}
	said := d.Choose(ctx, s.Name, names)
	if i := slices.IndexFunc(all, func(u *url.URL) bool { return u.String() == said }); i >= 0 && slices.Contains(names, said) {
		return all[i]
	}
	return nil
}

// kept is a login at what was found, without tokens yet, of a client.
func (f found) kept(client, secret string) Kept {
	k := Kept{Resource: f.resource.Resource, Issuer: f.meta.Issuer, Token: f.meta.TokenEndpoint, Revoke: f.meta.RevocationEndpoint,
		Client: client, Secret: secret, Scopes: f.scopes, Proof: f.proof}
	k.InHeader = secret != "" && !slices.Contains(f.meta.TokenEndpointAuthMethodsSupported, "client_secret_post")
	return k
}

// register makes a client of ours known to the issuer, unless the user brings one: by the address
// of the document that describes it, else by registering it.
func (f found) register(ctx context.Context, o Options, redirect string) (Kept, error) {
	k := f.kept(o.Client, o.Secret)
	if k.Client != "" {
		k.Given, k.Port = true, o.Port
		return k, nil
	}
	if o.Metadata != "" && f.meta.ClientIDMetadataDocumentSupported {
		k.Client = o.Metadata
		return k, nil
	}
	if f.meta.RegistrationEndpoint == "" {
		hint := "register a client there, then adze mcp login " + f.server.Name + " --client-id ID"
		if f.meta.ClientIDMetadataDocumentSupported {
			hint += "; or publish a document about this client, and name it with --client-metadata URL"
		}
		return k, refuse(hint, "%s lets no program register itself", f.issuer.Host)
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
		return k, f.unregistered(err)
	}
	k.Client, k.Secret = answer.ClientID, answer.ClientSecret
	k.InHeader = k.Secret != "" && answer.TokenEndpointAuthMethod != "client_secret_post" && answer.TokenEndpointAuthMethod != "none"
	if answer.TokenEndpointAuthMethod == "none" {
		k.Secret = ""
	}
	return k, nil
}

// unregistered explains why a client of ours could not be registered; what the issuer wrote is not
// shown.
func (f found) unregistered(err error) error {
	code := "it answers otherwise than the protocol says"
	var said *oauthex.ClientRegistrationError
	if errors.As(err, &said) {
		code = fmt.Sprintf("%.60q", said.ErrorCode)
	} else if plain := remote.Explain(f.issuer.Host, err); plain != err {
		return plain
	}
	return refuse("register a client there by hand, then adze mcp login "+f.server.Name+" --client-id ID", "%s does not register this program: %s", f.issuer.Host, code)
}

// asserting are the parameters of a request for tokens with which a client that has a key shows who
// it is.
func (k Kept) asserting(c Config) ([]oauth2.AuthCodeOption, error) {
	if !c.Client.Key.given() || c.Client.ID != k.Client {
		return nil, nil
	}
	params, err := c.Client.assertion(k.Issuer)
	if err != nil {
		return nil, err
	}
	var out []oauth2.AuthCodeOption
	for name := range params {
		out = append(out, oauth2.SetAuthURLParam(name, params.Get(name)))
	}
	return out, nil
}

// explain makes an error of the network, or a refusal of an issuer, one sentence for the user. What
// an issuer says beside a code is not shown: it may hold anything.
func explain(host string, err error) error {
	var said *oauth2.RetrieveError
	if !errors.As(err, &said) {
		return remote.Explain(host, err)
	}
	switch said.ErrorCode {
	case "access_denied":
		return refuse("log in again if you did not mean it", "the login at %s was refused there", host)
	case "expired_token":
		return refuse("begin anew", "the code of %s ran out before anybody took it", host)
	case "invalid_client", "unauthorized_client":
		return refuse("check the client's id, its secret or key, and what it was registered for", "%s does not take this client (%s)", host, said.ErrorCode)
	case "invalid_scope":
		return refuse("ask for others with --scope, or with \"scope\" in the configuration", "%s does not give the scopes that were asked for", host)
	}
	if said.ErrorCode == "" && said.Response != nil {
		return refuse("try again later", "%s answers %s", host, remote.Status(said.Response))
	}
	return refuse("begin anew; tell whoever runs it if it stays so", "%s refuses: %s", host, fmt.Sprintf("%.100q", said.ErrorCode))
}
