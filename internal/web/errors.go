package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// Stable error codes, as the tools report them.
const (
	codeDenied   = "denied"
	codeTimeout  = "timeout"
	codeAborted  = "aborted"
	codeTooLarge = "too_large"
	codeLimit    = "limit"
	codeInvalid  = "invalid_arguments"
	codeNotFound = "not_found"
	codeNoMatch  = "no_match"
	codeBinary   = "binary"
	codeEncoding = "encoding"
	codeIO       = "io"
)

// Error describes a failed fetch and the next step.
type Error struct {
	Code    string // stable, see ErrorCode
	Message string // for the model, with the next step
	Status  int    // HTTP status of 400 or more, else 0
	Excerpt string // start of the error page's text, when Status is set
	Err     error  // cause, may be nil
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the stable code: denied, timeout, aborted, too_large, limit, invalid_arguments,
// not_found, no_match, binary, encoding or io.
func (e *Error) ErrorCode() string { return e.Code }

func fail(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// errTimeout is the context cause when this package's own time limit ends a fetch.
var errTimeout = errors.New("time limit of the fetch")

// explain converts a connection or read error to an Error. Refusals from the dialer arrive wrapped
// by the transport and are returned unwrapped.
func explain(ctx context.Context, host string, err error) *Error {
	var own *Error
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &own) && own.Code != codeIO:
		return own
	case errors.Is(context.Cause(ctx), errTimeout):
		return &Error{Code: codeTimeout, Message: "no full answer from " + host + " in time; try again with a longer timeout, or another source", Err: err}
	case ctx.Err() != nil:
		return &Error{Code: codeAborted, Message: "the fetch was aborted", Err: context.Cause(ctx)}
	case own != nil:
		return own
	case errors.As(err, &timeout) && timeout.Timeout():
		return &Error{Code: codeTimeout, Message: "no connection to " + host + " in time; it may be down", Err: err}
	case errors.As(err, &dns) && dns.IsNotFound:
		return &Error{Code: codeNotFound, Message: "no such host: " + host + "; check the spelling", Err: err}
	case errors.As(err, &dns):
		return &Error{Code: codeIO, Message: "the name " + host + " cannot be resolved: " + dns.Err, Err: err}
	}
	return &Error{Code: codeIO, Message: fmt.Sprintf("fetching from %s failed: %v", host, err), Err: err}
}

// statusCode maps an HTTP status to an error code. A refusal by the server does not become
// CodeDenied, which is for this package's policy.
func statusCode(status int) string {
	switch status {
	case http.StatusNotFound, http.StatusGone:
		return codeNotFound
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return codeTimeout
	case http.StatusTooManyRequests:
		return codeLimit
	}
	return codeIO
}

func statusAdvice(h http.Header, status int) string {
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		return "check the address, or start from a page that links to it"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "the page wants a login or refuses programs; no credentials are ever sent, use another source"
	case status == http.StatusTooManyRequests && h.Get("Retry-After") != "":
		return "the server asks to wait (Retry-After: " + firstLine(h.Get("Retry-After"), 64) + ")"
	case status >= 500:
		return "the server has a problem; try later or use another source"
	}
	return "use another address"
}
