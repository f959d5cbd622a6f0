package web

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// ParseURL reads the address of a page as a fetch will: http or https, no credentials, a host name
// in ASCII and lower case, no fragment. Whoever asks for permission must show and match this form,
// so that the check and the connection cannot read one address in two ways.
func ParseURL(raw string) (*url.URL, error) {
	u, err := parseURL(raw)
	if err != nil {
		return nil, err
	}
	return u, nil
}

func parseURL(raw string) (*url.URL, *Error) {
	raw = strings.TrimSpace(raw)
	switch {
	case raw == "":
		return nil, fail(codeInvalid, "the url is empty; give one that begins with https://")
	case len(raw) > MaxURL:
		return nil, fail(codeInvalid, "the url has %d bytes, at most %d are taken; give a shorter one", len(raw), MaxURL)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, &Error{Code: codeInvalid, Message: "not a url: " + reason(err) + "; give one such as https://example.com/page", Err: err}
	}
	if e := judgeForm(u); e != nil {
		return nil, e
	}
	return canonical(u)
}

// reason is what is wrong with a url, without the url itself in front.
func reason(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return strings.TrimPrefix(u.Err.Error(), "net/url: ")
	}
	return err.Error()
}

// judgeForm refuses what is not a plain web address.
func judgeForm(u *url.URL) *Error {
	switch {
	case u.Scheme == "" || u.Opaque != "" && u.Host == "" && strings.Contains(u.Scheme, "."):
		return fail(codeInvalid, "the url has no scheme; begin it with https://")
	case u.Scheme != "http" && u.Scheme != "https":
		return fail(codeDenied, "%s: addresses are not fetched, only http:// and https:// are; for files use read", firstLine(u.Scheme, 32))
	case u.User != nil:
		return fail(codeDenied, "a url with a user name or password is not fetched; leave out what stands before @")
	case u.Hostname() == "":
		return fail(codeInvalid, "the url has no host")
	}
	return nil
}

// canonical rewrites host and port to their one spelling.
func canonical(u *url.URL) (*url.URL, *Error) {
	host, err := canonicalHost(u.Hostname())
	if err != nil {
		return nil, err
	}
	c := *u
	c.Fragment, c.RawFragment = "", ""
	c.Host = host
	if strings.Contains(host, ":") {
		c.Host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != defaultPort(u.Scheme) {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return nil, fail(codeInvalid, "port %s does not exist", firstLine(port, 32))
		}
		c.Host += ":" + strconv.FormatUint(n, 10)
	}
	if c.Path == "" {
		c.Path = "/"
	}
	return &c, nil
}

func defaultPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}

// portOf is the port a canonical url leads to.
func portOf(u *url.URL) uint16 {
	port := u.Port()
	if port == "" {
		port = defaultPort(u.Scheme)
	}
	n, _ := strconv.ParseUint(port, 10, 16) // canonical made sure of it
	return uint16(n)
}

// CanonicalHost returns an IP address in its usual form or a host name in lower-case ASCII, the one
// spelling under which a host is asked for, judged and dialled. Every error is an *[Error].
func CanonicalHost(host string) (string, error) {
	name, fault := canonicalHost(host)
	if fault != nil {
		return "", fault
	}
	return name, nil
}

// canonicalHost returns an IP address in its usual form or a host name in lower-case ASCII. Numbers
// that are no usual address are refused: resolvers read 127.1, 0x7f.1, 017700000001 and 2130706433
// as 127.0.0.1, and nobody who means well writes these.
func canonicalHost(host string) (string, *Error) {
	if strings.Contains(host, "%") {
		return "", fail(codeDenied, "an address with a zone (%%) is not fetched")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String(), nil
	}
	name, err := idna.Lookup.ToASCII(host)
	if err != nil {
		name = strings.ToLower(host) // idna refuses _ too, which some real names have
	}
	name = strings.TrimSuffix(name, ".")
	if !hostName(name) {
		return "", fail(codeInvalid, "%q is not a host name", firstLine(host, 80))
	}
	if a, err := netip.ParseAddr(name); err == nil {
		return a.String(), nil
	}
	if endsInNumber(name) {
		return "", fail(codeDenied, "%s is not a plain IP address; write four decimal numbers", firstLine(host, 80))
	}
	return name, nil
}

// hostName reports labels of letters, digits, hyphen and underscore, none too long (RFC 1035).
func hostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// endsInNumber reports that a resolver may read the name as an IPv4 address (WHATWG URL, "ends in a
// number"): its last label is decimal or hexadecimal.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	return strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == ""
}

// judgeURL decides what can be decided before resolving: the port, and a host that is an address.
func (p *Policy) judgeURL(u *url.URL) *Error {
	host, port := u.Hostname(), portOf(u)
	if fault := p.judgePort(host, port, u.Host); fault != nil {
		return fault
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return p.judgeAddr(host, netip.AddrPortFrom(a, port))
	}
	return nil
}

// judgePort refuses ports other than the web's, unless a rule opens them for this host. The place
// is host and port as the rule would name them.
func (p *Policy) judgePort(host string, port uint16, place string) *Error {
	if port == 80 || port == 443 || p.AllowPort != nil && p.AllowPort(host, port) {
		return nil
	}
	return fail(codeDenied, "port %d is not fetched from unasked, only 80 and 443 are; %s", port, opening(place))
}

// judgeAddr decides about one address that a host stands for.
func (p *Policy) judgeAddr(host string, at netip.AddrPort) *Error {
	why := forbidden(at.Addr())
	if why == "" || p.AllowAddr != nil && p.AllowAddr(host, at) {
		return nil
	}
	what := host + " is " + why
	if host != at.Addr().String() {
		what = fmt.Sprintf("%s leads to %s, %s", host, at.Addr(), why)
	}
	if at.Addr().IsUnspecified() {
		return fail(codeDenied, "%s and no address of a page; for a server on this machine use localhost", what)
	}
	if ownName(host) {
		host = net.JoinHostPort(host, strconv.Itoa(int(at.Port())))
	} else {
		host = at.String()
	}
	return fail(codeDenied, "%s, which is not fetched unasked; %s", what, opening(host))
}

// opening says how a user opens a place: the rule names it, since neither a mode nor a rule for all
// places is enough.
func opening(place string) string {
	return fmt.Sprintf("the person can open it with the rule allow network(%s)", place)
}

// sameSite reports that a redirect stays where it was allowed to be: the same scheme, host and
// port.
func sameSite(from, to *url.URL) bool {
	return from.Scheme == to.Scheme && from.Hostname() == to.Hostname() && portOf(from) == portOf(to)
}

// weaker reports a redirect from https to http. No rule follows it: the rule for the first address
// did not know that everybody on the way would read the page.
func weaker(from, to *url.URL) bool { return from.Scheme == "https" && to.Scheme == "http" }
