package oauth

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"adze/internal/mcp/remote"
)

// Grants that a configuration may name. All but the first work without a user, for CI and services.
const (
	AuthorizationCode = "authorization_code" // the user logs in; the default
	ClientCredentials = "client_credentials" // RFC 6749 section 4.4
	JWTBearer         = "jwt_bearer"         // uses a token of the workload (RFC 7523)
	TokenExchange     = "token_exchange"     // exchanges an identity token at the company's provider (cross-app access)
)

// Config holds a server's login settings. The zero value discovers everything.
type Config struct {
	Grant     string
	Issuer    string // may have another origin than the server
	Client    Client
	Metadata  string   // URL of a client ID metadata document
	Assertion Secret   // the workload's token for JWTBearer; the identity token for TokenExchange
	Scopes    []string // nil for the server's defaults
	Provider  struct { // for TokenExchange
		Issuer string
		Client Client
	}
}

// A Client is an OAuth client that the user registered.
type Client struct {
	ID        string
	Secret    Secret
	Key       Secret // PEM private key that signs assertions (private_key_jwt)
	KeyID     string
	Algorithm string // signature algorithm; "" for the key's usual one
}

// A Secret is a text or the file that holds it. The file is read at each use because its content
// may change.
type Secret struct{ Text, File string }

// read returns the trimmed secret, or "" if there is none.
func (s Secret) read() (string, error) {
	if s.File == "" {
		return s.Text, nil
	}
	raw, err := os.ReadFile(s.File)
	if err != nil {
		return "", remote.Refuse("check the path in the configuration", "the file of a secret cannot be read: %v", err)
	}
	if len(raw) > maxDescription {
		return "", remote.Refuse("check the path in the configuration", "the file of a secret is too long: %s", s.File)
	}
	return strings.TrimSpace(string(raw)), nil
}

func (s Secret) given() bool { return s.Text != "" || s.File != "" }

// places maps setting names to a configuration's fields.
func (c *Config) places() map[string]*string {
	return map[string]*string{
		"grant": &c.Grant, "issuer": &c.Issuer, "client_metadata": &c.Metadata, "scope": new(string),
		"client_id": &c.Client.ID, "client_secret": &c.Client.Secret.Text, "client_secret_file": &c.Client.Secret.File,
		"private_key": &c.Client.Key.Text, "private_key_file": &c.Client.Key.File, "private_key_id": &c.Client.KeyID, "signing_algorithm": &c.Client.Algorithm,
		"assertion": &c.Assertion.Text, "assertion_file": &c.Assertion.File,
		"idp_issuer": &c.Provider.Issuer, "idp_client_id": &c.Provider.Client.ID,
		"idp_client_secret": &c.Provider.Client.Secret.Text, "idp_client_secret_file": &c.Provider.Client.Secret.File,
	}
}

// Read parses the strings of the configuration's "oauth" object.
func Read(texts map[string]string) (c Config, err error) {
	places := c.places()
	for name, text := range texts {
		place := places[name]
		if place == nil {
			return c, fmt.Errorf("oauth has no %q", name)
		}
		*place = text
	}
	if scope := strings.Fields(*places["scope"]); len(scope) > 0 {
		c.Scopes = scope
	}
	return c, c.check()
}

func (c Config) check() error {
	lacks := func(have bool, name string) error {
		if have {
			return nil
		}
		return fmt.Errorf("oauth.grant %s needs oauth.%s", c.Grant, name)
	}
	for name, raw := range map[string]string{"issuer": c.Issuer, "client_metadata": c.Metadata, "idp_issuer": c.Provider.Issuer} {
		u, err := url.Parse(raw)
		if raw != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
			return fmt.Errorf("oauth.%s is no address that begins with https://", name)
		}
	}
	if u, _ := url.Parse(c.Metadata); c.Metadata != "" && (u.Scheme != "https" || strings.Trim(u.Path, "/") == "") {
		return fmt.Errorf("oauth.client_metadata is the address of a document: https://HOST/PATH")
	}
	switch c.Grant {
	case "", AuthorizationCode:
		return nil
	case ClientCredentials:
		if err := lacks(c.Client.ID != "", "client_id"); err != nil {
			return err
		}
		return lacks(c.Client.Secret.given() || c.Client.Key.given(), "client_secret, client_secret_file or private_key_file")
	case JWTBearer:
		return lacks(c.Assertion.given(), "assertion_file")
	case TokenExchange:
		for name, have := range map[string]bool{"client_id": c.Client.ID != "", "assertion_file": c.Assertion.given(), "idp_issuer": c.Provider.Issuer != "", "idp_client_id": c.Provider.Client.ID != ""} {
			if err := lacks(have, name); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("oauth.grant is %s, %s, %s or %s, and not %q", AuthorizationCode, ClientCredentials, JWTBearer, TokenExchange, c.Grant)
}

// unattended reports whether the grant works without a user.
func (c Config) unattended() bool { return c.Grant != "" && c.Grant != AuthorizationCode }
