// Package oauth logs users in at MCP servers, and stores and refreshes their tokens. The login
// itself is the SDK's (auth.AuthorizationCodeHandler).
//
// The one rule: a token goes only to its server, and the code, the secret and the refresh token
// only to their issuer. A server's issuer of another origin is used only if the user agrees.
//
// Start reading at Manager.Login. discover.go finds the issuers, browser.go runs the login page,
// store.go stores the login, handler.go supplies it to a connection. A connection asks the user for
// one thing only: a new login with more scopes.
//
// Tokens that need no user (client credentials, a workload, a company's identity provider) are
// fetched by a connection if configured, and are not stored: grant.go.
//
// Known limits: one login for each server address. Tokens bound to a key or a certificate (DPoP,
// mutual TLS) are not supported.
package oauth

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"adze/internal/mcp/remote"
)

// A Login is a stored login.
type Login struct {
	Resource   string    `json:"resource"` // the server's name in its tokens
	Issuer     string    `json:"issuer"`
	Token      string    `json:"token_endpoint"`
	Client     string    `json:"client_id"`
	Secret     string    `json:"client_secret,omitempty"`
	InHeader   bool      `json:"secret_in_header,omitempty"`
	UserClient bool      `json:"client_given,omitempty"` // the user supplied the client
	Port       int       `json:"port,omitempty"`         // of the redirect; 0 for any
	Key        string    `json:"proof_key,omitempty"`    // from older logins with bound tokens (DPoP), which cannot be used
	Scopes     []string  `json:"scopes,omitempty"`
	Access     string    `json:"access_token"`
	Refresh    string    `json:"refresh_token,omitempty"`
	Expiry     time.Time `json:"expiry,omitzero"`
}

// leeway is the time before its expiry at which a token is no longer used, for transit and clock
// differences.
const leeway = 30 * time.Second

// valid reports whether a server should accept the token.
func (l Login) valid(now time.Time) bool {
	return l.Access != "" && (l.Expiry.IsZero() || now.Add(leeway).Before(l.Expiry))
}

func (l Login) config() *oauth2.Config {
	style := oauth2.AuthStyleInParams // also without a secret
	if l.InHeader {
		style = oauth2.AuthStyleInHeader
	}
	return &oauth2.Config{ClientID: l.Client, ClientSecret: l.Secret, Scopes: l.Scopes, Endpoint: oauth2.Endpoint{TokenURL: l.Token, AuthStyle: style}}
}

// with returns the login with the tokens in a token response.
func (l Login) with(t *oauth2.Token) (Login, error) {
	if t.AccessToken == "" || !strings.EqualFold(t.Type(), "Bearer") {
		return l, remote.Refuse("tell whoever runs it", "%s gave a token of a kind that is not spoken (%.40q)", l.Issuer, t.Type())
	}
	l.Access, l.Expiry = t.AccessToken, t.Expiry
	if t.RefreshToken != "" {
		l.Refresh = t.RefreshToken
	}
	if granted, _ := t.Extra("scope").(string); granted != "" {
		l.Scopes = strings.Fields(granted)
	}
	return l, nil
}

// LoginRequired means that the user has to log in at a server first. A running session never asks.
type LoginRequired struct {
	Name       string   // the server's configured name
	Scopes     []string // missing scopes, if the server named them
	Reason     string   // "" if there was no login yet
	Unattended bool     // no user is involved, so a login does not help
}

// Error implements error.
func (r *LoginRequired) Error() string {
	switch {
	case r.Unattended:
		return r.Name + " does not take the token that it gets by itself: " + r.Reason
	case r.Reason != "":
		return r.Name + " wants a new login: " + r.Reason
	}
	return r.Name + " wants a login"
}

// Next returns the user's next step.
func (r *LoginRequired) Next() string {
	if r.Unattended {
		return "look at the account's rights, and at mcp.servers." + r.Name + ".oauth in the configuration"
	}
	command := "adze mcp login " + r.Name
	if len(r.Scopes) > 0 {
		command += " --scope '" + strings.Join(r.Scopes, " ") + "'"
	}
	return command
}

// scopesOf returns the safe names among a server's scopes: the user copies them in a command.
func scopesOf(text string) []string {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"'\`, r) } // RFC 6749 section 3.3
	scopes := strings.Fields(text)
	return slices.DeleteFunc(scopes[:min(len(scopes), 64)], func(s string) bool { return len(s) > 256 || strings.ContainsFunc(s, odd) })
}
