package wire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"adze/internal/text/redact"
	"adze/session"
)

// Limit of the provider's words in a message, in bytes.
const maxSaid = 400

// failure returns an error for the user; text becomes one limited line, with secrets redacted.
func (c *Client) failure(kind session.ErrorKind, text, hint string) *session.ProviderError {
	text = strings.TrimRight(clip(c.mask(text), maxSaid), ". ")
	return &session.ProviderError{Kind: kind, Message: text, Hint: hint}
}

// Bad returns an error for an answer that violates the wire format. The message continues after
// "NAME sent".
func (c *Client) Bad(format string, args ...any) error {
	return c.failure(session.BadResponse, c.Provider+" "+fmt.Sprintf(format, args...),
		"try again; if it stays, check the base URL and that the server speaks this API")
}

// Framing converts errors of Lines, Events or Calls; others pass unchanged. If a malformed line is
// itself an error object, its message is used.
func (c *Client) Framing(err error) error {
	var failed *session.ProviderError
	var malformed *MalformedError
	switch {
	case errors.As(err, &failed) || errors.Is(err, ErrGone) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &malformed):
		// llama.cpp has an error field, some proxies write the bare object.
		object := bytes.TrimPrefix(malformed.Line, []byte("error:"))
		if said, ok := parseSaid(object); ok {
			return c.saidError(0, said)
		}
		if isHTML(malformed.Line) {
			return c.Bad("sent an HTML page instead of an answer")
		}
	}
	return c.Bad("sent %v", err)
}

// Malformed returns an error for invalid JSON or JSON of another shape; cut means that the stream
// stopped inside the data.
func (c *Client) Malformed(data []byte, cut bool) error {
	switch {
	case isHTML(data):
		return c.Bad("sent an HTML page instead of an answer")
	case cut:
		return c.Ended()
	}
	return c.Bad("sent data that is malformed: %q", clip(string(data), 120))
}

// BadID is the quirk for a server that refuses the form of call ids.
func BadID(name string) Quirk {
	return Quirk{Name: name, RefusalWords: [][]string{{"call_id", "tool_calls", "toolcallid", "tool call id", "tool_use_id", "call id"},
		{"pattern", "invalid id", "invalid format", "alphanumeric", "not a valid id", "must match", "characters"}}}
}

// Ended returns an error for a stream without its format's terminal event.
func (c *Client) Ended() error {
	failure := c.failure(session.BadResponse, c.Provider+" ended the answer before it was complete", "try again")
	failure.Cut = true
	return failure
}

// Refused returns an error for an answer refused by the model or a filter.
func (c *Client) Refused(reason string) error {
	return c.failure(session.RefusedAnswer, c.Provider+" refused to answer ("+reason+")", "rephrase the request")
}

// ParseFailure returns an error for an answer with a call that the server could not parse; wrote is
// the text it quotes, if any.
func (c *Client) ParseFailure(reason, wrote string) error {
	failure := c.failure(session.BadResponse, c.Provider+" could not read a call of the model ("+reason+")", "try again, or choose another model")
	failure.UnparsedCall = c.quote(cmp.Or(strings.TrimSpace(wrote), "(a call that the server does not show)"))
	return failure
}

// Object returns the error in an error object within a successful response.
func (c *Client) Object(raw json.RawMessage) error {
	said, ok := parseSaid([]byte(`{"error":` + string(raw) + `}`))
	if !ok {
		return c.Bad("sent an error without a message")
	}
	return c.saidError(0, said)
}

func (c *Client) statusError(status int, header http.Header, body []byte) error {
	said, ok := parseSaid(body)
	switch {
	case status/100 == 3:
		said.Text = "redirects to another address"
	case ok:
	case isHTML(body):
		said.Text = "an HTML page: " + htmlTitle(body)
	case len(bytes.TrimSpace(body)) > 0:
		said.Text = string(bytes.TrimSpace(body))
	default:
		said.Text = strings.ToLower(http.StatusText(status))
	}
	failure := c.saidError(status, said)
	again := header.Get("X-Should-Retry")
	if failure.Final = again == "false"; again == "true" && failure.Kind == session.RequestError {
		failure.Kind = session.ServerError
	}
	failure.RetryAfter = cmp.Or(retryAfter(status, header, body), failure.RetryAfter)
	return failure
}

func (c *Client) saidError(status int, s Refusal) *session.ProviderError {
	kind := classify(status, s)
	if s.wrote != "" {
		kind = session.BadResponse
	}
	failure := c.failure(kind, c.Provider+": "+s.Text, c.hint(kind, status))
	failure.Status, failure.UnparsedCall = status, c.quote(s.wrote)
	if kind == session.RateError {
		failure.RetryAfter = toldWait(s.Text)
	}
	s.Status, s.Failed, s.Text = status, kind, strings.ToLower(c.mask(s.Text))
	failure.Err = &s
	return failure
}

func (c *Client) hint(kind session.ErrorKind, status int) string {
	hint, known := map[session.ErrorKind]string{
		session.AuthError:     c.KeyHint,
		session.NoModelError:  "check the model's name, or choose another with --model",
		session.RateError:     "wait a little and try again",
		session.ServerError:   "try again; the fault is on the provider's side",
		session.ContextError:  "start a new session, or choose a model with a larger context",
		session.RefusedAnswer: "rephrase the request",
	}[kind]
	if !known && (status == http.StatusNotFound || status/100 == 3) {
		return c.URLHint
	}
	return hint
}

// networkError gives the cause without the address, which may hold credentials. begun: the answer
// had begun.
func (c *Client) networkError(err error, begun bool) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var untrusted *tls.CertificateVerificationError
	var dns *net.DNSError
	var dial *net.OpError
	text := "cannot reach " + c.Provider + ": " + err.Error()
	switch {
	case begun || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		text = "the connection to " + c.Provider + " was cut: " + err.Error()
	case errors.As(err, &dns):
		text = "cannot reach " + c.Provider + ": no such host " + dns.Name
	case err.Error() == http.StatusText(http.StatusProxyAuthRequired):
		return c.failure(session.AuthError, "the proxy before "+c.Provider+" refuses its name and password", "check the proxy's address: the provider's setting proxy, else HTTPS_PROXY")
	case errors.As(err, &dial) && dial.Op == "remote error" && strings.Contains(text, "certificate"):
		return c.failure(session.AuthError, c.Provider+" wants another certificate: "+dial.Err.Error(), "name yours with client_cert and client_key beside base_url")
	case errors.As(err, &dial) && dial.Op == "dial" && dial.Addr != nil:
		text = fmt.Sprintf("cannot reach %s at %s: %v", c.Provider, dial.Addr, innermost(dial))
	case errors.As(err, &untrusted):
		return c.failure(session.RequestError, "cannot trust the certificate of "+c.Provider+": "+untrusted.Err.Error(), "name the file of your own authority with ca_file beside base_url, or in SSL_CERT_FILE; on macOS and Windows add it to the system's store")
	}
	return c.failure(session.NetworkError, text, c.URLHint)
}

// innermost returns the root cause: "connection refused".
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// Limit of the model's own words in an error, in bytes.
const maxWrote = 4 << 10

// quote limits the model's text at a rune boundary and removes the key.
func (c *Client) quote(text string) string {
	text = c.mask(text)
	if len(text) <= maxWrote {
		return strings.ToValidUTF8(text, "?")
	}
	return strings.ToValidUTF8(text[:maxWrote], "") + " …"
}

// Shortest keys that are redacted in an error: minExact exactly, minHead also by a repeated start.
const (
	minExact = 6
	minHead  = 12
)

// mask removes the key, even if only its start is repeated, as some servers do on purpose.
func (c *Client) mask(text string) string {
	if c.Door != nil && c.Door.Secret != nil {
		text = masked(text, c.Door.Secret())
	}
	return masked(text, c.Secret)
}

func masked(text, secret string) string {
	text = redact.New(secret).Text(text)
	if len(secret) >= minExact { // unlike in a log, it cannot be part of other text here
		text = strings.ReplaceAll(text, secret, redact.Mark)
	}
	if len(secret) < minHead {
		return text
	}
	head := secret[:8]
	for {
		i := strings.Index(text, head)
		if i < 0 {
			return text
		}
		end := i + len(head)
		for end < len(text) && !strings.ContainsRune(" \t\r\n\"'`,;)", rune(text[end])) {
			end++
		}
		text = text[:i] + redact.Mark + text[end:]
	}
}
