package wire

import (
	"context"
	"net/http"
	"net/url"

	"adze/session"
)

// Host returns an address's host name, or "".
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// DisplayURL returns an address without secrets.
func DisplayURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not an address)"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// WithHeader returns a copy of the headers with one added; an empty value adds nothing.
func WithHeader(given http.Header, name, value string) http.Header {
	h := given.Clone()
	if h == nil {
		h = http.Header{}
	}
	if value != "" {
		h.Set(name, value)
	}
	return h
}

// Bearer returns a copy of the headers with a bearer token.
func Bearer(given http.Header, key string) http.Header {
	if key == "" {
		return WithHeader(given, "", "")
	}
	return WithHeader(given, "Authorization", "Bearer "+key)
}

// Post sends a body to a path.
func (c *Client) Post(ctx context.Context, path string, body *Body) (*Reply, error) {
	return c.Open(ctx, Call{Method: http.MethodPost, URL: c.base + path, Header: c.header, Body: body})
}

// Calls returns an empty Calls for an answer to a conversation.
func (c *Client) Calls(history []session.Message) Calls {
	return Calls{Mint: c.newID, History: history}
}
