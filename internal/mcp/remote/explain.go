package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// Status describes a response's status in fixed words: the server's own may contain anything.
func Status(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// Explain turns a network error into one sentence with the next step. It keeps errors that have one
// already, and the end of a context.
func Explain(host string, err error) error {
	var own interface {
		error
		Next() string
	}
	if errors.As(err, &own) {
		return own
	}
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var dns *net.DNSError
	var wait net.Error
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return Refuse("check how it is spelt, and that this machine is online", "there is no host %s", host)
	case errors.As(err, &dns):
		return Refuse("check the network, then try again", "the name %s cannot be looked up now", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refuse("check the address and its port, and that the server runs", "nothing answers at %s", host)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return Refuse("check the network, then try again", "%s cannot be reached from here", host)
	case errors.As(err, &record):
		return Refuse("check whether the address begins with http:// or https://", "%s does not speak TLS", host)
	case errors.As(err, &unknown):
		return Refuse("have this machine trust who signed it, if you do", "the certificate of %s is signed by nobody that this machine trusts", host)
	case errors.As(err, &name):
		return Refuse("check the address", "the certificate of %s is one of another host", host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return Refuse("check this machine's clock; else tell whoever runs it", "the certificate of %s does not hold now", host)
	case errors.As(err, &invalid):
		return Refuse("tell whoever runs it", "the certificate of %s is not valid", host)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &wait) && wait.Timeout():
		return Refuse("try again later", "%s does not answer in time", host)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return Refuse("try again; tell whoever runs it if it stays so", "%s closed the connection without an answer", host)
	}
	return err
}
