package oauth

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const (
	jwtBearerGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	jwtAssertion   = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// assertionLife is how long an assertion of ours holds.
	assertionLife = time.Minute
)

// assertion is how a client with a key shows the issuer who it is (RFC 7523, 2.2); without a key
// there is nothing to add.
func (c Client) assertion(issuer string) (url.Values, error) {
	text, err := c.Key.read()
	if err != nil || text == "" {
		return nil, err
	}
	key, err := keyOf(text)
	if err != nil {
		return nil, err
	}
	header := map[string]any{"typ": "JWT"}
	if c.KeyID != "" {
		header["kid"] = c.KeyID
	}
	now := time.Now()
	signed, err := token(key, c.Algorithm, header, map[string]any{
		"iss": c.ID, "sub": c.ID, "aud": issuer, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
	})
	if err != nil {
		return nil, err
	}
	return url.Values{"client_assertion_type": {jwtAssertion}, "client_assertion": {signed}}, nil
}

// unattended gets a token that needs nobody, by the grant of the server's configuration.
func (d Desk) unattended(ctx context.Context, f found) (k Kept, err error) {
	c := f.server.Config
	secret, err := c.Client.Secret.read()
	if err != nil {
		return k, err
	}
	k = f.kept(c.Client.ID, secret)
	params, err := c.Client.assertion(f.meta.Issuer)
	if err != nil {
		return k, err
	}
	if params == nil {
		params = url.Values{}
	}
	params.Set("resource", k.Resource)
	switch c.Grant {
	case JWTBearer:
		assertion, err := c.Assertion.read()
		if err != nil {
			return k, err
		}
		d.hidden(assertion)
		params.Set("grant_type", jwtBearerGrant)
		params.Set("assertion", assertion)
	case TokenExchange:
		assertion, err := d.exchange(ctx, f)
		if err != nil {
			return k, err
		}
		d.hidden(assertion)
		params.Set("grant_type", jwtBearerGrant)
		params.Set("assertion", assertion)
	}
	style := oauth2.AuthStyleInParams
	if k.InHeader {
		style = oauth2.AuthStyleInHeader
	}
	config := clientcredentials.Config{ClientID: k.Client, ClientSecret: k.Secret, TokenURL: k.Token, Scopes: f.scopes, EndpointParams: params, AuthStyle: style}
	got, err := config.Token(with(ctx, f.client))
	if err != nil {
		return k, explain(f.issuer.Host, err)
	}
	return k.take(got)
}

// exchange has the company's identity provider vouch for the user at the server's issuer: it gives
// an assertion for their identity token.
func (d Desk) exchange(ctx context.Context, f found) (assertion string, err error) {
	p := f.server.Config.Provider
	at, err := url.Parse(p.Issuer)
	if err != nil {
		return "", err
	}
	client := d.Clients.Issuers(at)
	meta, err := ask(ctx, client, at, false)
	if err != nil {
		return "", err
	}
	identity, err := f.server.Config.Assertion.read()
	if err != nil {
		return "", err
	}
	secret, err := p.Client.Secret.read()
	if err != nil {
		return "", err
	}
	d.hidden(identity, secret)
	who := &oauthex.ClientCredentials{ClientID: p.Client.ID}
	if secret != "" {
		who.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
	}
	got, err := oauthex.ExchangeToken(ctx, meta.TokenEndpoint, &oauthex.TokenExchangeRequest{
		RequestedTokenType: oauthex.TokenTypeIDJAG, Audience: f.meta.Issuer, Resource: f.resource.Resource, Scope: f.scopes,
		SubjectToken: identity, SubjectTokenType: oauthex.TokenTypeIDToken,
	}, who, client)
	if err != nil {
		return "", explain(at.Host, err)
	}
	if kind, _ := got.Extra("issued_token_type").(string); kind != oauthex.TokenTypeIDJAG {
		return "", refuse("ask who runs it whether it knows cross-app access", "%s gave a token of another kind than was asked for (%.100q)", at.Host, kind)
	}
	return got.AccessToken, nil
}

// with has the library use a client.
func with(ctx context.Context, c *http.Client) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c)
}
