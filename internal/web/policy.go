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

// ParseURL returns a page's URL in canonical form: http or https, no credentials, the host in
// lower-case ASCII, no fragment. Permission rules and prompts must use this form, so that the check
// and the connection agree on the address.
func ParseURL(raw string) (*url.URL, error) {
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
	if err := judgeForm(u); err != nil {
		return nil, err
	}
	return canonical(u)
}

func reason(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return strings.TrimPrefix(u.Err.Error(), "net/url: ")
	}
	return err.Error()
}

// judgeForm refuses URLs that are not plain web addresses.
func judgeForm(u *url.URL) error {
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

func canonical(u *url.URL) (*url.URL, error) {
	host, err := CanonicalHost(u.Hostname())
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

func portOf(u *url.URL) uint16 {
	port := u.Port()
	if port == "" {
		port = defaultPort(u.Scheme)
	}
	n, _ := strconv.ParseUint(port, 10, 16) // valid in a canonical URL
	return uint16(n)
}

// CanonicalHost returns an IP address in its usual form or a host name in lower-case ASCII, the
// form used in rules, decisions and connections. Unusual numeric forms are refused: resolvers read
// 127.1, 0x7f.1, 017700000001 and 2130706433 as 127.0.0.1, and no honest URL has them. Every error
// is an *[Error].
func CanonicalHost(host string) (string, error) {
	if strings.Contains(host, "%") {
		return "", fail(codeDenied, "an address with a zone (%%) is not fetched")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String(), nil
	}
	name, err := idna.Lookup.ToASCII(host)
	if err != nil {
		name = strings.ToLower(host) // idna also refuses "_", which some real names have
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

// hostName reports whether s has only labels with letters, digits, hyphens and underscores within
// the RFC 1035 lengths.
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

// endsInNumber reports whether a resolver may read the name as an IPv4 address because its last
// label is decimal or hexadecimal (WHATWG URL, "ends in a number").
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	return strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == ""
}

// judgeURL makes the decisions possible before resolving: the port, and a host that is an address.
func (p *Policy) judgeURL(u *url.URL) error {
	host, port := u.Hostname(), portOf(u)
	if err := p.judgePort(host, port, u.Host); err != nil {
		return err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return p.judgeAddr(host, netip.AddrPortFrom(a, port))
	}
	return nil
}

// judgePort refuses non-web ports unless a rule allows one for this host. Place is the host and
// port as written in such a rule.
func (p *Policy) judgePort(host string, port uint16, place string) error {
	if port == 80 || port == 443 || p.AllowPort != nil && p.AllowPort(host, port) {
		return nil
	}
	return fail(codeDenied, "port %d is not fetched from unasked, only 80 and 443 are; %s", port, opening(place))
}

// judgeAddr decides about one address of a host.
func (p *Policy) judgeAddr(host string, at netip.AddrPort) error {
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

// opening returns advice how the user can allow a place: a rule has to name it, since neither a
// mode nor a rule for all places is enough.
func opening(place string) string {
	return fmt.Sprintf("the person can open it with the rule allow network(%s)", place)
}

// sameSite reports whether a redirect keeps scheme, host and port.
func sameSite(from, to *url.URL) bool {
	return from.Scheme == to.Scheme && from.Hostname() == to.Hostname() && portOf(from) == portOf(to)
}

// weaker reports a redirect from https to http. No rule allows it: the rule for the first address
// did not consent to an unencrypted connection.
func weaker(from, to *url.URL) bool { return from.Scheme == "https" && to.Scheme == "http" }
