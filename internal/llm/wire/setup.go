package wire

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"adze/session"
)

// Setup is what every adapter is told about its provider. Adapters make it of their own options.
type Setup struct {
	Name string // of the provider in a model's full name
	Base string // the address that paths are added to
	// Header goes with each request, with the key where the format wants it.
	Header http.Header
	Key    string        // masked in every message
	HTTP   *http.Client  // if nil, one of our own that keeps its connection
	NewID  func() string // mints ids for calls without one; if nil, random
	Idle   time.Duration // without content; if 0, DefaultIdle, on loopback LocalIdle
	// KeyHint and URLHint say what to do about a refused key and an unreachable server.
	KeyHint, URLHint string
}

// Connect makes the client of a provider. It does no work and opens no connection.
func Connect(s Setup) Client {
	if s.NewID == nil {
		s.NewID = NewID
	}
	if s.Idle == 0 {
		s.Idle = DefaultIdle
		if Loopback(Host(s.Base)) {
			s.Idle = LocalIdle
		}
	}
	return Client{
		Provider: s.Name, Idle: s.Idle, Secret: s.Key, HTTP: HTTP(s.HTTP), ownHTTP: s.HTTP == nil,
		KeyHint: s.KeyHint, URLHint: s.URLHint, base: s.Base, header: s.Header, newID: s.NewID,
	}
}

// Host is the name of the machine in an address, or nothing.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// With returns a copy of given headers with another one; an empty value adds nothing.
func With(given http.Header, name, value string) http.Header {
	h := given.Clone()
	if h == nil {
		h = http.Header{}
	}
	if value != "" {
		h.Set(name, value)
	}
	return h
}

// Bearer returns a copy of given headers with a key as most servers take it.
func Bearer(given http.Header, key string) http.Header {
	if key == "" {
		return With(given, "", "")
	}
	return With(given, "Authorization", "Bearer "+key)
}

// Post sends a body to a path of the provider.
func (c *Client) Post(ctx context.Context, path string, body *Body) (*Reply, error) {
	return c.Open(ctx, Call{Method: http.MethodPost, URL: c.base + path, Header: c.header, Body: body})
}

// Calls is an empty assembly of calls for an answer to a conversation.
func (c *Client) Calls(history []session.Message) Calls {
	return Calls{Mint: c.newID, History: history}
}
