package dial

import (
	"net/http"

	"adze/internal/mcp/oauth"
)

// login adds a server's login to requests of the 2024-11-05 transport: the library does so for the
// newer one only.
type login struct {
	handler *oauth.Handler
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper. It repeats a refused request once if there is a newer
// login or one with more scopes.
func (l login) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := l.with(r)
	if err != nil {
		return nil, err
	}
	resp, err := l.next.RoundTrip(sent)
	if err != nil || resp.StatusCode != http.StatusUnauthorized && !oauth.LacksScopes(resp) {
		return resp, err
	}
	if err := l.handler.Authorize(r.Context(), sent, resp); err != nil {
		return nil, err
	}
	if sent, err = l.with(r); err != nil {
		return nil, err
	}
	if r.GetBody != nil {
		if sent.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return l.next.RoundTrip(sent)
}

// with adds the login to a request, if there is one.
func (l login) with(r *http.Request) (*http.Request, error) {
	token, err := l.handler.Token(r.Context())
	if err != nil {
		return nil, err
	}
	sent := r.Clone(r.Context())
	if token != nil {
		token.SetAuthHeader(sent)
	}
	return sent, nil
}
