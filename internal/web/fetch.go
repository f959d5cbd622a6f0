package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// resource is a response with its body decoded and bounded, not yet converted to text.
type resource struct {
	url         *url.URL
	status      int
	header      http.Header
	contentType string
	body        []byte
	truncated   bool
	redirect    string
}

// Fetch gets one page and renders it. Every error is an *[Error].
func (f *Fetcher) Fetch(ctx context.Context, r Request) (Page, error) {
	u, err := checkRequest(&r)
	if err != nil {
		return Page{}, err
	}
	key := cacheKey{r.Session, u.String(), r.MaxBytes}
	res, cached := f.cache.get(key, f.now())
	if !cached {
		getter := f
		if r.Approved {
			getter = New(f.policy.approved(u))
		}
		if res, err = getter.get(ctx, u, r); err != nil {
			return Page{}, err
		}
		if cacheable(res) {
			f.cache.put(key, res, f.now())
		}
	}
	page, err := render(ctx, res, r)
	page.Cached = cached
	return page, err
}

// Check validates a request without connecting; its error is the one Fetch would return.
func Check(r Request) error {
	_, err := checkRequest(&r)
	return err
}

func checkRequest(r *Request) (*url.URL, error) {
	switch r.Format {
	case "":
		r.Format = Markdown
	case Markdown, Text, HTML, Raw:
	default:
		return nil, fail(codeInvalid, "format %q does not exist; use markdown, text, html or raw", firstLine(string(r.Format), 40))
	}
	if r.Selector != "" && r.Format == Raw {
		return nil, fail(codeInvalid, "a selector needs format markdown, text or html")
	}
	if r.Timeout < 0 || r.Timeout > MaxTimeout {
		return nil, fail(codeInvalid, "the timeout must lie between 0 and %d seconds", MaxTimeout/time.Second)
	}
	if r.Timeout == 0 {
		r.Timeout = DefaultTimeout
	}
	if r.MaxBytes < 0 || r.MaxBytes > MaxDecoded {
		return nil, fail(codeInvalid, "max_bytes must lie between 1 and %d", MaxDecoded)
	}
	if r.MaxBytes == 0 {
		r.MaxBytes = MaxDecoded
	}
	return ParseURL(r.URL)
}

// get follows redirects itself, since each needs a new decision.
func (f *Fetcher) get(ctx context.Context, u *url.URL, r Request) (*resource, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, errTimeout)
	defer cancel()
	t := f.transport()
	defer t.CloseIdleConnections()
	for hop := 0; ; hop++ {
		if err := f.policy.judgeURL(u); err != nil {
			return nil, err
		}
		res, err := f.getOne(ctx, t, u, r)
		if err != nil {
			return nil, err
		}
		next, err := f.next(res)
		if err != nil || next == nil {
			return res, err
		}
		if hop == MaxRedirects {
			return nil, fail(codeLimit, "more than %d redirects, the last to %s; fetch the final address itself", MaxRedirects, next)
		}
		u = next
	}
}

func (f *Fetcher) getOne(ctx context.Context, t *http.Transport, u *url.URL, r Request) (*resource, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, &Error{Code: codeInvalid, Message: "not a url that can be fetched: " + reason(err) + "; give one such as https://example.com/page", Err: err}
	}
	// No cookies, referrer, credentials or machine details.
	req.Header.Set("User-Agent", "adze")
	req.Header.Set("Accept", "text/html, application/xhtml+xml, text/markdown, text/plain, application/json, text/*;q=0.9, image/*;q=0.8, */*;q=0.5")
	req.Header.Set("Accept-Language", "en, *;q=0.5")
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, explain(ctx, u.Host, err)
	}
	defer resp.Body.Close()
	resp.Body = countedReader{resp.Body, r.Received}
	res := &resource{url: u, status: resp.StatusCode, header: resp.Header, contentType: resp.Header.Get("Content-Type")}
	if isRedirect(resp) {
		res.redirect = resp.Header.Get("Location")
		return res, nil
	}
	if resp.StatusCode >= 400 {
		return nil, failedStatus(ctx, res, resp)
	}
	if res.body, res.truncated, err = readBody(resp, r.MaxBytes); err != nil {
		return nil, explain(ctx, u.Host, err)
	}
	return res, nil
}

func isRedirect(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location") != ""
	}
	return false
}

// next returns the redirect target to follow. It returns nil if res is final: a page, or a redirect
// that only the caller may follow. The target is judged in either case.
func (f *Fetcher) next(res *resource) (*url.URL, error) {
	if res.redirect == "" {
		return nil, nil
	}
	rel, err := url.Parse(res.redirect)
	if err != nil || len(res.redirect) > MaxURL {
		return nil, fail(codeIO, "%s redirects to something that is no url", res.url.Host)
	}
	to, err := ParseURL(res.url.ResolveReference(rel).String())
	if err == nil {
		err = f.policy.judgeURL(to)
	}
	if err != nil {
		return nil, &Error{Code: codeDenied, Message: "the page redirects, and that is refused: " + err.Error(), Err: err}
	}
	if sameSite(res.url, to) || !weaker(res.url, to) && f.policy.AllowRedirect != nil && f.policy.AllowRedirect(res.url, to) {
		return to, nil
	}
	res.redirect = to.String()
	return nil, nil
}

// failedStatus returns the error for a status of 400 or more, with the start of the response text.
func failedStatus(ctx context.Context, res *resource, resp *http.Response) error {
	fault := fail(statusCode(res.status), "%s answered %d %s; %s",
		res.url, res.status, http.StatusText(res.status), statusAdvice(res.header, res.status))
	fault.Status = res.status
	var err error
	if res.body, _, err = readBody(resp, 64<<10); err != nil && context.Cause(ctx) != nil {
		return explain(ctx, res.url.Host, err)
	}
	page, _ := render(ctx, res, Request{Format: Text}) // an empty page if it has no text
	fault.Excerpt = strings.TrimSpace(clip(page.Text, maxExcerpt))
	return fault
}
