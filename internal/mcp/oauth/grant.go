package oauth

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"adze/internal/mcp/remote"
)

const (
	jwtBearerGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	jwtAssertion   = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// assertionLife is the lifetime of our assertions.
	assertionLife = time.Minute
)

// unattended gets a token without a user, by the configured grant. The library's handlers (extauth)
// support neither clients with a key nor workload tokens.
func (m Manager) unattended(ctx context.Context, s Server, scopes []string) (l Login, err error) {
	if err := secured(s); err != nil {
		return l, err
	}
	c := s.Config
	r, named, err := m.discover(ctx, s)
	if err != nil {
		return l, explain(s.URL.Host, err)
	}
	issuer, err := m.choose(ctx, s, r.Issuers, c.Issuer, "")
	if err != nil {
		return l, err
	}
	client := remote.Issuers(s.URL, issuer)
	meta, err := metadataOf(ctx, client, issuer)
	if err != nil {
		return l, explain(issuer.Host, err)
	}
	if scopes == nil {
		scopes = named
	}
	l = Login{Resource: r.Resource, Issuer: meta.Issuer, Token: meta.TokenEndpoint, Client: c.Client.ID, Scopes: scopes}
	if l.Secret, err = c.Client.Secret.read(); err != nil {
		return l, err
	}
	l.InHeader = l.Secret != "" && !slices.Contains(meta.TokenEndpointAuthMethodsSupported, "client_secret_post")
	params, err := m.params(ctx, s, l)
	if err != nil {
		return l, err
	}
	from := l.config()
	config := clientcredentials.Config{ClientID: l.Client, ClientSecret: l.Secret, TokenURL: l.Token, Scopes: scopes, EndpointParams: params, AuthStyle: from.Endpoint.AuthStyle}
	token, err := config.Token(withClient(ctx, client))
	if err != nil {
		return l, explain(issuer.Host, err)
	}
	return l.with(token)
}

// metadataOf reads an issuer's metadata (RFC 8414). The library's reader refuses issuers without
// PKCE, which these grants do not need.
func metadataOf(ctx context.Context, c *http.Client, issuer *url.URL) (meta oauthex.AuthServerMeta, err error) {
	own, path := (&url.URL{Scheme: issuer.Scheme, Host: issuer.Host}).String(), trimmed(issuer.EscapedPath())
	for _, at := range []string{own + "/.well-known/oauth-authorization-server" + path, own + "/.well-known/openid-configuration" + path, own + path + "/.well-known/openid-configuration"} {
		found, err := fetch(ctx, c, at, &meta)
		if err != nil {
			return meta, err
		}
		if found {
			break
		}
	}
	at, err := url.Parse(meta.TokenEndpoint)
	switch {
	case trimmed(meta.Issuer) != trimmed(issuer.String()):
		return meta, remote.Refuse("do not log in there; tell whoever runs the server", "%s says that it is another issuer (%.200q)", issuer.Host, meta.Issuer)
	case err != nil || !protected(at):
		return meta, remote.Refuse("tell whoever runs it", "%s does not say where it gives tokens, under https", issuer.Host)
	}
	return meta, nil
}

func (m Manager) params(ctx context.Context, s Server, l Login) (params url.Values, err error) {
	c := s.Config
	if params, err = c.Client.assertion(l.Issuer); err != nil {
		return nil, err
	}
	params.Set("resource", l.Resource)
	var assertion string
	switch c.Grant {
	case JWTBearer:
		assertion, err = c.Assertion.read()
	case TokenExchange:
		assertion, err = m.exchange(ctx, c, l)
	default:
		return params, nil
	}
	m.hide(assertion)
	params.Set("grant_type", jwtBearerGrant)
	params.Set("assertion", assertion)
	return params, err
}

// assertion returns the parameters that authenticate a client with a key (RFC 7523 section 2.2), or
// none without a key.
func (c Client) assertion(issuer string) (url.Values, error) {
	text, err := c.Key.read()
	if err != nil || text == "" {
		return url.Values{}, err
	}
	now := time.Now()
	signed, err := sign(text, c.Algorithm, c.KeyID, jwt.MapClaims{
		"iss": c.ID, "sub": c.ID, "aud": issuer, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
	})
	return url.Values{"client_assertion_type": {jwtAssertion}, "client_assertion": {signed}}, err
}

// exchange trades the user's identity token at the company's provider for an assertion to the
// server's issuer.
func (m Manager) exchange(ctx context.Context, c Config, l Login) (assertion string, err error) {
	at, err := url.Parse(c.Provider.Issuer)
	if err != nil {
		return "", err
	}
	client := remote.Issuers(at)
	meta, err := metadataOf(ctx, client, at)
	if err != nil {
		return "", explain(at.Host, err)
	}
	identity, err := c.Assertion.read()
	if err != nil {
		return "", err
	}
	who := &oauthex.ClientCredentials{ClientID: c.Provider.Client.ID}
	secret, err := c.Provider.Client.Secret.read()
	if err != nil {
		return "", err
	}
	if secret != "" {
		who.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
	}
	m.hide(identity, secret)
	got, err := oauthex.ExchangeToken(ctx, meta.TokenEndpoint, &oauthex.TokenExchangeRequest{
		RequestedTokenType: oauthex.TokenTypeIDJAG, Audience: l.Issuer, Resource: l.Resource, Scope: l.Scopes,
		SubjectToken: identity, SubjectTokenType: oauthex.TokenTypeIDToken,
	}, who, client)
	if err != nil {
		return "", explain(at.Host, err)
	}
	if kind, _ := got.Extra("issued_token_type").(string); kind != oauthex.TokenTypeIDJAG {
		return "", remote.Refuse("ask who runs it whether it knows cross-app access", "%s gave a token of another kind than was asked for (%.100q)", at.Host, kind)
	}
	return got.AccessToken, nil
}

func withClient(ctx context.Context, c *http.Client) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c)
}
