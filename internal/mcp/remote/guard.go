package remote

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
)

// guard sends requests to one server and bounds its answers. It is safe for concurrent use.
type guard struct {
	server  *url.URL
	headers http.Header
	flood   *flood
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	err := sameOrigin(g.server, r.URL)
	if err == nil {
		err = g.flood.check(g.server.Host)
	}
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	sent := r.Clone(r.Context())
	for name, values := range g.headers {
		if name = http.CanonicalHeaderKey(name); name != "Authorization" || sent.Header.Get(name) == "" { // a login counts before
			sent.Header[name] = values
		}
	}
	resp, err := g.next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	call := callOf(r)
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/event-stream" {
		resp.Body = newEvents(resp.Body, g.flood, call)
		return resp, nil
	}
	return bounded(resp, call)
}

// sameOrigin refuses an address that is not of the server that is configured.
func sameOrigin(server, to *url.URL) error {
	if SameOrigin(server, to) {
		return nil
	}
	at := url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}
	return refuse("configure that address if it is meant", "%s sends requests on to %s, another origin", server.Host, at.String())
}

// callOf is the id of the one call in a request as it stands on the wire; nil: there is none.
func callOf(r *http.Request) json.RawMessage {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.NewDecoder(io.LimitReader(body, MaxFrame)).Decode(&call) != nil || call.Method == "" || string(call.ID) == "null" {
		return nil
	}
	return call.ID
}

// secure sends nothing without TLS, but to places on this machine that the user named.
type secure struct {
	named place
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (s secure) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.allows(r.URL) {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, refuse("the login needs an address that begins with https", "%s://%s is not asked: what goes there can be read on the way", r.URL.Scheme, r.URL.Host)
	}
	resp, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	return limited(resp, maxMetadata), nil
}

func (s secure) allows(u *url.URL) bool {
	if u.Scheme == "https" {
		return true
	}
	for _, n := range s.named {
		if u.Scheme == "http" && Loopback(u) && SameOrigin(n, u) {
			return true
		}
	}
	return false
}
