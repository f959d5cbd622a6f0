// Package oauth logs a user in at MCP servers that ask for it, and keeps and refreshes what they
// get for it. The login itself is the SDK's (auth.AuthorizationCodeHandler).
//
// The one rule: a token goes to the server that it was asked for, and the code, the secret and the
// refresh token to the issuer that gave it; a server that names another issuer than its own origin
// is followed only when the user says so.
//
// Start reading at Manager.Login. discover.go finds who gives tokens, browser.go has the user say
// yes, store.go keeps what came, handler.go hands it to a connection. A connection asks the user
// for one thing alone: to log in again for more, where a call needs it.
//
// What needs nobody (a client with credentials of its own, a workload, a company's identity
// provider) is got by a connection itself, where the configuration says so, and not kept: grant.go.
//
// Known limits: one login for a server's address. Tokens that are bound to a key or a certificate
// (DPoP, mutual TLS) are not spoken.
package oauth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"adze/internal/mcp/remote"
)

// Login is what a login brought, as it is kept.
type Login struct {
	Resource string    `json:"resource"` // the server, as its tokens name it
	Issuer   string    `json:"issuer"`
	Token    string    `json:"token_endpoint"`
	Client   string    `json:"client_id"`
	Secret   string    `json:"client_secret,omitempty"`
	InHeader bool      `json:"secret_in_header,omitempty"`
	Given    bool      `json:"client_given,omitempty"` // the user brought the client, and did not have it registered
	Port     int       `json:"port,omitempty"`         // that the browser comes back to; if 0, any
	Key      string    `json:"proof_key,omitempty"`    // of older logins, whose tokens are bound to it (DPoP) and cannot be used
	Scopes   []string  `json:"scopes,omitempty"`
	Access   string    `json:"access_token"`
	Refresh  string    `json:"refresh_token,omitempty"`
	Expiry   time.Time `json:"expiry,omitzero"`
}

// leeway is how long before its end a token is not used any more: it has to arrive, and clocks
// differ.
const leeway = 30 * time.Second

// valid reports a token that a server should take.
func (l Login) valid(now time.Time) bool {
	return l.Access != "" && (l.Expiry.IsZero() || now.Add(leeway).Before(l.Expiry))
}

// config is the client as the library knows it.
func (l Login) config() *oauth2.Config {
	style := oauth2.AuthStyleInParams // also without a secret
	if l.InHeader {
		style = oauth2.AuthStyleInHeader
	}
	return &oauth2.Config{ClientID: l.Client, ClientSecret: l.Secret, Scopes: l.Scopes, Endpoint: oauth2.Endpoint{TokenURL: l.Token, AuthStyle: style}}
}

// with returns the login with the tokens that a token endpoint answered.
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

// LoginRequired is the error of a server that a user has to log in at first; nobody is asked while
// a session runs.
type LoginRequired struct {
	Name       string   // of the server, as it is configured
	Scopes     []string // that a token lacks, where the server says so
	Why        string   // if empty, there was no login yet
	Unattended bool     // its tokens need nobody, so that no login helps
}

// Error implements error.
func (r *LoginRequired) Error() string {
	switch {
	case r.Unattended:
		return r.Name + " does not take the token that it gets by itself: " + r.Why
	case r.Why != "":
		return r.Name + " wants a new login: " + r.Why
	}
	return r.Name + " wants a login"
}

// Next is the next move.
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

// scopesOf are the plain names among scopes that a server tells: they stand in a command for the
// user to copy.
func scopesOf(text string) []string {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"'\`, r) } // RFC 6749 3.3
	scopes := strings.Fields(text)
	return slices.DeleteFunc(scopes[:min(len(scopes), 64)], func(s string) bool { return len(s) > 256 || strings.ContainsFunc(s, odd) })
}

// Clients are the HTTP clients of a login; both bound what they read and judge addresses.
type Clients struct {
	Server  func(server *url.URL, headers http.Header) *http.Client // speaks with that origin alone
	Issuers func(named ...*url.URL) *http.Client                    // those named may be on this machine
}
