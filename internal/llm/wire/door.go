package wire

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"adze/session"
)

// A Door is how a cloud or a gateway offers a format that an adapter speaks: at other paths, with
// other credentials, or in another framing. The zero value changes nothing.
type Door struct {
	// Path returns the path of a request to a model; nil means the format's own.
	Path func(model, path string) string
	// Query is added to each address.
	Query url.Values
	// Version is anthropic_version in the body of the Messages format, in the place of the model's
	// name and the header.
	Version string
	// Unstreamed: the path says that the answer is a stream, and the body must not.
	Unstreamed bool
	// Body converts a request's body; nil leaves it.
	Body func(*Body) *Body
	// Read converts a successful answer into server-sent events; nil leaves it.
	Read func(io.Reader) io.Reader
	// Sign adds credentials to one attempt of a request; nil means those in the header. It is called
	// again for each repetition. Its errors are for the user.
	Sign func(ctx context.Context, r *http.Request, body *Body) error
	// Renew forgets the credentials after a server refused them. It returns false if the next ones
	// would be the same. nil means false.
	Renew func() bool
	// Secret returns the credential that was used last, to be redacted in messages; may be nil.
	Secret func() string
}

// path returns the path of a request to a model.
func (d *Door) path(model, own string) string {
	if d != nil && d.Path != nil {
		own = d.Path(model, own)
	}
	return own
}

// address adds the query to an address.
func (d *Door) address(address string) string {
	if d == nil || len(d.Query) == 0 {
		return address
	}
	mark := "?"
	if strings.Contains(address, "?") {
		mark = "&"
	}
	return address + mark + d.Query.Encode()
}

// body returns a request's body in the door's form.
func (d *Door) body(b *Body) *Body {
	if d == nil || d.Body == nil {
		return b
	}
	return d.Body(b)
}

// sign adds credentials to a request.
func (d *Door) sign(ctx context.Context, r *http.Request, body *Body) error {
	if d == nil || d.Sign == nil {
		return nil
	}
	return d.Sign(ctx, r, body)
}

// renews reports whether a refused request may succeed with new credentials.
func (d *Door) renews(err error) bool {
	failed, ok := err.(*session.ProviderError)
	return ok && d != nil && d.Renew != nil && failed.Kind == session.AuthError &&
		(failed.Status == http.StatusUnauthorized || failed.Status == http.StatusForbidden && outdated(failed.Message)) && d.Renew()
}

// outdated recognizes credentials that have ended, which AWS answers with 403.
func outdated(text string) bool {
	return containsAny(strings.ToLower(text), "expired", "security token", "signature not yet current")
}
