package wire_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"adze/internal/llm/wire"
	"adze/session"
)

// refusal answers each request with a status, headers and a body.
type refusal struct {
	status int
	header http.Header
	body   string
}

func (r refusal) RoundTrip(q *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: r.status, Header: r.header, Body: io.NopCloser(strings.NewReader(r.body)), Request: q,
	}, nil
}

func TestWhatAProviderAsksToWait(t *testing.T) {
	head := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for name, c := range map[string]struct {
		refusal
		want time.Duration
	}{
		"nothing":            {refusal{429, nil, `{}`}, 0},
		"seconds":            {refusal{503, head("Retry-After", "7"), `{}`}, 7 * time.Second},
		"parts of seconds":   {refusal{429, head("Retry-After", "0.5"), `{}`}, 500 * time.Millisecond},
		"milliseconds first": {refusal{429, head("Retry-After-Ms", "250", "Retry-After", "7"), `{}`}, 250 * time.Millisecond},
		"a date by the server's clock": {refusal{429, head(
			"Date", "Sat, 21 Nov 2026 03:00:00 GMT", "Retry-After", "Sat, 21 Nov 2026 03:00:09 GMT"), `{}`}, 9 * time.Second},
		"a date that has passed": {refusal{429, head(
			"Date", "Sat, 21 Nov 2026 03:00:00 GMT", "Retry-After", "Sat, 21 Nov 2026 02:00:00 GMT"), `{}`}, 0},
		"negative": {refusal{429, head("Retry-After", "-3"), `{}`}, 0},
		"words":    {refusal{429, head("Retry-After", "soon"), `{}`}, 0},
		"endless":  {refusal{429, head("Retry-After", "1e300"), `{}`}, 0},
		"Google's RetryInfo": {refusal{429, nil, `{"error":{"code":429,"message":"slow","details":[{"@type":"type.googleapis.com/google.rpc.Help"},` +
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37.5s"}]}}`}, 37500 * time.Millisecond},
		"the same in a list":      {refusal{503, nil, `[{"error":{"details":[{"retryDelay":"3s"}]}}]`}, 3 * time.Second},
		"details of another kind": {refusal{429, nil, `{"error":{"details":"none"}}`}, 0},
		"requests are used up": {refusal{429, head("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1m2.5s",
			"x-ratelimit-remaining-tokens", "900", "x-ratelimit-reset-tokens", "6m0s"), `{}`}, 62500 * time.Millisecond},
		"tokens do not suffice": {refusal{429, head("x-ratelimit-remaining-requests", "9", "x-ratelimit-reset-requests", "8h",
			"x-ratelimit-remaining-tokens", "900", "x-ratelimit-reset-tokens", "7.66s"), `{}`}, 7660 * time.Millisecond},
		"a limit in whole seconds": {refusal{429, head("x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "12"), `{}`}, 12 * time.Second},
		"a limit as time of day":   {refusal{429, head("x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "1790000000"), `{}`}, 0},
		"limits of another fault":  {refusal{500, head("x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "12"), `{}`}, 0},
	} {
		if c.header == nil {
			c.header = http.Header{}
		}
		client := wire.Client{Provider: "p", HTTP: wire.HTTP(&http.Client{Transport: c.refusal}), Idle: time.Minute}
		_, err := client.Open(t.Context(), wire.Call{Method: http.MethodPost, URL: "http://canned.test"})
		var failure *session.ProviderError
		if !errors.As(err, &failure) || failure.RetryAfter != c.want {
			t.Errorf("%s: %#v, want to wait %s", name, err, c.want)
		}
	}
}

// A failure inside a stream has no header: its words tell how long to wait.
func TestWaitsThatAreToldInWords(t *testing.T) {
	c := wire.Client{Provider: "p"}
	for said, want := range map[string]time.Duration{
		"Rate limit reached. Please try again in 11.054s. Visit our page.": 11054 * time.Millisecond,
		"Rate limit reached. Please try again in 28ms.":                    28 * time.Millisecond,
		"Rate limit reached. Please try again in 7m12.5s.":                 7*time.Minute + 12500*time.Millisecond,
		"Rate limit reached. Try again in 35 seconds.":                     35 * time.Second,
		"rate limit: Please retry after 12 seconds.":                       12 * time.Second,
		"rate limit: Please retry in 2 minutes.":                           2 * time.Minute,
		"rate limit: retry in 40.5s.":                                      40500 * time.Millisecond,
		"rate limit: try again in a moment":                                0,
		"rate limit: 20 requests in 60 seconds":                            0,
	} {
		var failure *session.ProviderError
		if !errors.As(c.Object(wire.JSON(said)), &failure) || failure.RetryAfter != want {
			t.Errorf("%q: %#v", said, failure)
		}
	}
}
