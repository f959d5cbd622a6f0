package wire

import (
	"context"
	"net/http"
	"net/url"

	"adze/session"
)

// Host is the name of the machine in an address, or nothing.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Shown is an address without what may be secret in it.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not an address)"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
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
