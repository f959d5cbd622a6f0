package conformance_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// refusing answers requests by itself with what the format says when it refuses one.
type refusing struct {
	wire Wire
	on   *atomic.Bool
}

func (r refusing) RoundTrip(q *http.Request) (*http.Response, error) {
	if !r.on.Load() {
		return http.DefaultTransport.RoundTrip(q)
	}
	if q.Body != nil {
		defer q.Body.Close()
	}
	return &http.Response{
		StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}}, Request: q, ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(strings.NewReader(r.wire.Refusal("invalid_request_error", "not this one"))), ContentLength: -1,
	}, nil
}

// Instead is a client whose every request goes to the server of the test, whatever its address: an
// adapter that knows a server by its address meets one.
func (o Options) Instead() *http.Client {
	client := *o.HTTP
	client.Transport = redirected{strings.TrimPrefix(o.BaseURL, "http://"), client.Transport}
	return &client
}

type redirected struct {
	host string
	next http.RoundTripper
}

func (r redirected) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.URL.Scheme, q.URL.Host = "http", r.host
	return r.next.RoundTrip(q)
}
