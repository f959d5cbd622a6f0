package remote

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"adze/internal/mcp/wire"
)

// guard sends requests to one server and limits its responses. It is safe for concurrent use.
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
		if name = http.CanonicalHeaderKey(name); name != "Authorization" || sent.Header.Get(name) == "" { // a login has priority
			sent.Header[name] = values
		}
	}
	resp, err := g.next.RoundTrip(sent)
	if err != nil {
		return nil, Explain(g.server.Host, err)
	}
	call, method := callOf(r)
	if err := g.refused(resp, method); err != nil {
		resp.Body.Close()
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/event-stream" {
		resp.Body = newEvents(resp.Body, g.flood, call)
		return resp, nil
	}
	if err := readAnswer(resp, call); err != nil {
		return nil, err
	}
	return resp, nil
}

// readAnswer replaces a response's body with one that the library can read. An oversized response
// becomes its call's error and does not end the connection for all calls.
func readAnswer(resp *http.Response, call json.RawMessage) error {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, wire.MaxMessage+1))
	resp.Body.Close()
	switch whole := len(raw) <= wire.MaxMessage; {
	case err != nil:
		return err
	case whole && call != nil:
		raw = wire.Read(raw)
	case whole:
	case call == nil || resp.StatusCode/100 != 2:
		return Refuse("ask for less", "an answer has more than %d MB", wire.MaxMessage>>20)
	default:
		raw = wire.TooLong(call)
		resp.Header.Set("Content-Type", "application/json")
	}
	setBody(&resp.Body, &resp.ContentLength, resp.Header, raw)
	return nil
}

func setBody(body *io.ReadCloser, length *int64, h http.Header, raw []byte) {
	*body, *length = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	if h.Get("Content-Length") != "" {
		h.Set("Content-Length", strconv.Itoa(len(raw)))
	}
}

// sameOrigin returns an error for an address outside the configured server.
func sameOrigin(server, to *url.URL) error {
	if SameOrigin(server, to) {
		return nil
	}
	at := url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}
	return Refuse("configure that address if it is meant", "%s sends requests on to %s, another origin", server.Host, at.String())
}

// refused explains a response outside of the protocol: a broken server, or an address without one.
func (g *guard) refused(resp *http.Response, method string) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if method == "" || kind == "application/json" || kind == "text/event-stream" {
		return nil
	}
	switch status := resp.StatusCode; {
	case status == http.StatusTooManyRequests:
		return Refuse("try again later", "%s takes no more requests now (%s)", g.server.Host, Status(resp))
	case status >= 500:
		return Refuse("try again later; check the address if it stays so", "%s answers %s", g.server.Host, Status(resp))
	case method != "initialize":
		return nil
	case status/100 == 2 && kind != "":
		return Refuse("check the address: it often ends in /mcp", "%s answers with a page (%.40s) and not in the protocol", g.server.Host, kind)
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusGone:
		return Refuse("check the address: it often ends in /mcp; an old server wants \"type\": \"sse\"", "there is no MCP server at %s%s (%s)", g.server.Host, g.server.Path, Status(resp))
	}
	return nil
}

// callOf returns the raw id and the method of the call in a request, or nil.
func callOf(r *http.Request) (id json.RawMessage, method string) {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return nil, ""
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, ""
	}
	defer body.Close()
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.NewDecoder(io.LimitReader(body, wire.MaxMessage)).Decode(&call) != nil || call.Method == "" || string(call.ID) == "null" {
		return nil, ""
	}
	return call.ID, call.Method
}

// secure requires TLS, except for local addresses that the user named.
type secure struct {
	named place
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (s secure) RoundTrip(r *http.Request) (*http.Response, error) {
	own := func(n *url.URL) bool { return r.URL.Scheme == "http" && Loopback(r.URL) && SameOrigin(n, r.URL) }
	if r.URL.Scheme != "https" && !slices.ContainsFunc(s.named, own) {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, Refuse("the login needs an address that begins with https", "%s://%s is not asked: what goes there can be read on the way", r.URL.Scheme, r.URL.Host)
	}
	resp, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, Explain(r.URL.Host, err)
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxMetadata)
	return resp, readToken(r, resp)
}

// readToken fixes a token response that libraries refuse: JSON with any content type, and a
// lifetime of 3600.0 or 3.6e3 as whole seconds.
func readToken(r *http.Request, resp *http.Response) error {
	if r.Method != http.MethodPost {
		return nil
	}
	raw, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) == nil && all != nil {
		resp.Header.Set("Content-Type", "application/json")
		life := string(all["expires_in"])
		if seconds, bad := strconv.ParseFloat(life, 64); bad == nil && strings.ContainsAny(life, ".eE") && seconds >= 0 && seconds < 1<<53 {
			all["expires_in"] = strconv.AppendInt(nil, int64(seconds), 10)
			raw, _ = json.Marshal(all) // decoded from JSON
		}
	}
	setBody(&resp.Body, &resp.ContentLength, resp.Header, raw)
	return err
}
