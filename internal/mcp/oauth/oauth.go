// Package oauth logs a user in at MCP servers that ask for it, and keeps and refreshes what they
// get for it.
//
// The one rule: a token goes to the server that it was asked for, and the code, the secret and the
// refreshing of it to the issuer that gave it; a server that names another issuer than its own
// origin is followed only when the user says so.
//
// Start reading at Desk.Login. discover.go finds who gives tokens, browser.go and device.go have
// the user say yes, shelf.go keeps what came, keeper.go hands it to a connection. A connection asks
// the user for one thing alone: to log in again for more, where a call needs it.
//
// What needs nobody (a client with credentials of its own, a workload, a company's identity
// provider) is got by a connection itself, where the configuration says so, and not kept: grant.go.
//
// Known limits: one login for a server's address. Tokens that are bound to a certificate of the
// client (mutual TLS) are not spoken.
package oauth

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// Kept is what a login brought.
type Kept struct {
	Resource string    `json:"resource"` // the server, as its tokens name it
	Issuer   string    `json:"issuer"`
	Token    string    `json:"token_endpoint"`
	Revoke   string    `json:"revocation_endpoint,omitempty"`
	Client   string    `json:"client_id"`
	Secret   string    `json:"client_secret,omitempty"`
	InHeader bool      `json:"secret_in_header,omitempty"`
	Given    bool      `json:"client_given,omitempty"` // the user brought the client, and did not have it registered
	Port     int       `json:"port,omitempty"`         // that the browser comes back to; if 0, any
	Proof    string    `json:"proof_key,omitempty"`    // the private key that the tokens are bound to (DPoP); if empty, they are not
	Scopes   []string  `json:"scopes,omitempty"`
	Access   string    `json:"access_token"`
	Refresh  string    `json:"refresh_token,omitempty"`
	Expiry   time.Time `json:"expiry,omitzero"`
}

// leeway is how long before its end a token is not used any more: it has to arrive, and clocks
// differ.
const leeway = 30 * time.Second

// valid reports a token that a server should take.
func (k Kept) valid(now time.Time) bool {
	return k.Access != "" && (k.Expiry.IsZero() || now.Add(leeway).Before(k.Expiry))
}

// config is the client as the library knows it.
func (k Kept) config() *oauth2.Config {
	style := oauth2.AuthStyleInParams // also without a secret
	if k.InHeader {
		style = oauth2.AuthStyleInHeader
	}
	return &oauth2.Config{ClientID: k.Client, ClientSecret: k.Secret, Scopes: k.Scopes, Endpoint: oauth2.Endpoint{TokenURL: k.Token, AuthStyle: style}}
}

// take puts what a token endpoint answered into what is kept.
func (k Kept) take(t *oauth2.Token) (Kept, error) {
	bound := k.Proof != "" && strings.EqualFold(t.Type(), "DPoP")
	if t.AccessToken == "" || !bound && !strings.EqualFold(t.Type(), "Bearer") {
		return k, refuse("tell whoever runs it", "%s gave a token of a kind that is not spoken (%s)", k.Issuer, t.Type())
	}
	if !bound {
		k.Proof = ""
	}
	k.Access, k.Expiry = t.AccessToken, t.Expiry
	if t.RefreshToken != "" {
		k.Refresh = t.RefreshToken
	}
	if granted, _ := t.Extra("scope").(string); granted != "" {
		k.Scopes = strings.Fields(granted)
	}
	return k, nil
}

// Error says why there is no login, and the next move.
type Error struct{ Message, Hint string }

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Next is the next move.
func (e *Error) Next() string { return e.Hint }

func refuse(hint, format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...), hint}
}

// Wanted is the error of a server that a user has to log in at first; nobody is asked while a
// session runs.
type Wanted struct {
	Name   string   // of the server, as it is configured
	Scopes []string // that a token lacks, where the server says so
	Why    string   // "" : there was no login yet
	Alone  bool     // its tokens need nobody, so that no login helps
}

// Error implements error.
func (w *Wanted) Error() string {
	if w.Alone {
		return w.Name + " does not take the token that it gets by itself: " + w.Why
	}
	if w.Why != "" {
		return w.Name + " wants a new login: " + w.Why
	}
	return w.Name + " wants a login"
}

// Next is the next move.
func (w *Wanted) Next() string {
	if w.Alone {
		return "look at the account's rights, and at mcp.servers." + w.Name + ".oauth in the configuration"
	}
	command := "adze mcp login " + w.Name
	if len(w.Scopes) > 0 {
		command += " --scope '" + strings.Join(w.Scopes, " ") + "'"
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
