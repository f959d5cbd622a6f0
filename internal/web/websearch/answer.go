package websearch

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// Bounds for a result, in characters.
const (
	maxTitle   = 200
	maxExcerpt = 500
	maxURL     = 2000
	maxDate    = 40
)

// kept returns the results for the model: web pages with a URL, without duplicates and markup,
// bounded.
func kept(found []Result, limit int) []Result {
	out, seen := []Result{}, map[string]bool{}
	for _, r := range found {
		u, err := url.Parse(strings.TrimSpace(r.URL))
		if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" || len(r.URL) > maxURL {
			continue
		}
		u.User = nil
		if r.URL = u.String(); seen[r.URL] {
			continue
		}
		seen[r.URL] = true
		r.Title, r.Excerpt, r.Date = line(r.Title, maxTitle), line(r.Excerpt, maxExcerpt), line(r.Date, maxDate)
		if out = append(out, r); len(out) == limit {
			break
		}
	}
	return out
}

// markup matches the tags that engines put around matching words.
var markup = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?[a-zA-Z][^<>]{0,200}>`) })

// line returns one line of plain text with at most most characters.
func line(text string, most int) string {
	if len(text) > 16*most { // bounds the work
		text = strings.ToValidUTF8(text[:16*most], "")
	}
	text = html.UnescapeString(markup().ReplaceAllString(text, ""))
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if r := []rune(text); len(r) > most {
		text = strings.TrimSpace(string(r[:most])) + "…"
	}
	return text
}

// Stable error codes, as the tools report them.
const (
	codeInvalid  = "invalid_arguments"
	codeTimeout  = "timeout"
	codeAborted  = "aborted"
	codeTooLarge = "too_large"
	codeLimit    = "limit"
	codeIO       = "io"
)

// Error describes a failed search and the next step.
type Error struct {
	Code    string
	Message string
	Err     error // cause, may be nil
}

func (e *Error) Error() string     { return e.Message }
func (e *Error) Unwrap() error     { return e.Err }
func (e *Error) ErrorCode() string { return e.Code }

func fail(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// errTimeout is the context cause when this package's own time limit ends a search.
var errTimeout = errors.New("time limit of the search")

// explain describes a connection error. It does not quote the HTTP client's error, which contains
// the whole URL.
func (e *Engine) explain(ctx context.Context, err error) error {
	var own interface{ ErrorCode() string }
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		return &Error{codeTimeout, fmt.Sprintf("no full answer from %s in %s; try again, or go on without a search", e.Address(), e.o.Timeout), nil}
	case ctx.Err() != nil:
		return &Error{codeAborted, "the search was aborted", context.Cause(ctx)}
	case errors.As(err, &own):
		return err // from the connector, which explains a refused address itself
	}
	return &Error{codeIO, fmt.Sprintf("%s cannot be reached at %s; go on without a search, or ask the person to check search.base_url", e.Name(), e.Address()), nil}
}

func (e *Engine) refused(resp *http.Response) error {
	status := resp.StatusCode
	switch {
	case status == http.StatusTooManyRequests, status == 432, status == 433: // Tavily's codes for an exhausted plan
		wait := line(resp.Header.Get("Retry-After"), maxDate)
		if wait != "" {
			wait = " (it asks to wait " + wait + ")"
		}
		return fail(codeLimit, "%s takes no more searches now%s; go on with what you have, or fetch a page that you know", e.Name(), wait)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		what := "the person must check " + e.o.KeyName
		if e.kind.hint != "" {
			what = e.kind.hint + "; the person can change that"
		}
		return fail(codeIO, "%s refuses to answer (HTTP %d): %s", e.Name(), status, what)
	case status >= 300 && status < 400:
		return fail(codeIO, "%s redirects to another place (HTTP %d), where no search goes; the person must correct search.base_url", e.Name(), status)
	case status >= 500:
		return fail(codeIO, "%s has a problem (HTTP %d); try again later, or go on without a search", e.Name(), status)
	}
	return fail(codeIO, "%s did not take the search (HTTP %d); use plain words, or go on without it", e.Name(), status)
}
