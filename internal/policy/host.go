package policy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"

	"adze/tool"
)

// address is a network target. The scheme "tcp" means a local port for a sandboxed command, and
// "unix" a socket with its path in host.
type address struct{ scheme, host, port string }

func (a address) String() string {
	if a.scheme == "unix" {
		return unixPrefix + a.host
	}
	return a.scheme + "://" + net.JoinHostPort(a.host, a.port)
}

// Prefix of needs and matchers about sockets with a path.
const unixPrefix = "unix:"

// ofThisMachine reports whether an address names this machine explicitly.
func ofThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// rule returns the rule that allows exactly this address.
func (a address) rule() string {
	switch a.scheme {
	case "unix":
		return "allow network(" + unixPrefix + escapeGlob(a.host) + ")"
	case "tcp":
		return "allow network(" + net.JoinHostPort(a.host, a.port) + ")"
	}
	return fmt.Sprintf("allow network(%s)", a)
}

// usualPort returns a scheme's port, or "" if unknown.
func usualPort(scheme string) string {
	return map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}[scheme]
}

// parseAddress parses a URL, or host[:port], which means https.
func parseAddress(target string) (address, error) {
	if path, ok := strings.CutPrefix(target, unixPrefix); ok {
		return address{scheme: "unix", host: path}, nil
	}
	if !strings.Contains(target, "://") {
		target = "https://" + target
	}
	u, err := url.Parse(target)
	if err != nil || u.Hostname() == "" {
		return address{}, fmt.Errorf("%s is not an address; give a URL such as https://example.com/page", quote(target))
	}
	a := address{strings.ToLower(u.Scheme), plainHost(u.Hostname()), u.Port()}
	if a.port == "" {
		a.port = usualPort(a.scheme)
	}
	for _, c := range []byte(a.host) {
		if c >= 0x80 {
			return a, fmt.Errorf("the host of %s is not ASCII; give it in its xn-- form", quote(target))
		}
	}
	return a, nil
}

func plainHost(h string) string { return strings.TrimSuffix(strings.ToLower(h), ".") }

// hostMatcher is a compiled [scheme://]host[:port]. An empty field matches anything; for an allow
// rule, an empty port means the scheme's usual one.
type hostMatcher struct {
	scheme, port string
	host         string       // literal
	suffix       string       // for *.example.com: ".example.com"
	sockets      *pathMatcher // for sockets only; nil for hosts
}

func compileHost(matcher string, effect Effect) (hostMatcher, error) {
	if pattern, ok := strings.CutPrefix(matcher, unixPrefix); ok {
		return compileSockets(pattern, effect)
	}
	m, err := readHost(matcher)
	if err == nil && effect == Allow && matcher != "" {
		err = m.tooWide()
	}
	return m, err
}

func compileSockets(pattern string, effect Effect) (hostMatcher, error) {
	paths, err := compilePath("abs:"+pattern, effect)
	if err != nil {
		return hostMatcher{}, fmt.Errorf("%q is not the path of a socket; write unix: and an absolute path, such as unix:/run/postgresql/**", pattern)
	}
	if effect == Allow && strings.IndexAny(pattern, "*?[{") == 1 {
		return hostMatcher{}, errors.New(unixPrefix + pattern + " allows the sockets of every program; name a folder, such as unix:/run/postgresql/**")
	}
	return hostMatcher{sockets: &paths}, nil
}

// tooWide rejects an allow rule for a suffix under which anybody can register a host. Deny and ask
// rules may be that wide. The bare permission means every host.
func (m hostMatcher) tooWide() error {
	const instead = "name the hosts, or those below one domain, such as *.example.com"
	below := strings.Trim(m.suffix, ".")
	switch {
	case m.host == "" && below == "":
		return errors.New("* allows every host there is, so anything could be sent anywhere; " + instead)
	case below == "":
		return nil
	case strings.Trim(below[strings.LastIndexByte(below, '.')+1:], "0123456789:") == "":
		return errors.New("*." + below + " is a part of an address, which says nothing about who has the others; name the addresses")
	case isPublicSuffix(below):
		return fmt.Errorf("anybody can get a name below %s, so *.%s allows hosts of anybody; %s", below, below, instead)
	}
	return nil
}

// isPublicSuffix reports whether anybody can register names below a domain: com, co.uk, github.io.
// A last label missing in the list counts as one, except reserved and private ones (RFC 6761, RFC
// 6762 appendix G, RFC 8375, RFC 9476).
func isPublicSuffix(domain string) bool {
	suffix := func(of string) bool { s, _ := publicsuffix.PublicSuffix(of); return s == of }
	// For *.kawasaki.jp in the list, each name below is one.
	return (suffix(domain) || suffix("any."+domain)) && !oneOf(domain, "test example invalid localhost local internal alt intranet private corp home lan home.arpa")
}

func readHost(matcher string) (hostMatcher, error) {
	var m hostMatcher
	rest := strings.ToLower(matcher)
	if scheme, after, ok := strings.Cut(rest, "://"); ok {
		if scheme != "http" && scheme != "https" {
			return m, fmt.Errorf("%q is never fetched; a scheme is http or https", scheme)
		}
		m.scheme, rest = scheme, after
	}
	if strings.ContainsAny(rest, "/?#@ ") {
		return m, errors.New("a network matcher is [scheme://]host[:port]; paths cannot be matched")
	}
	if host, port, err := net.SplitHostPort(rest); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return m, fmt.Errorf("%q is not a port", port)
		}
		rest, m.port = host, port
	}
	rest = plainHost(strings.Trim(rest, "[]"))
	if ip, err := netip.ParseAddr(rest); err == nil {
		rest = ip.String() // addresses are compared in canonical form
	}
	switch below, wide := strings.CutPrefix(rest, "*."); {
	case wide:
		m.suffix = "." + below
		rest = below
	case rest != "*":
		m.host = rest
	default:
		rest = ""
	}
	for _, c := range []byte(rest) {
		if c >= 0x80 || c == '*' {
			return m, fmt.Errorf("%q is not a host; use a name in its xn-- form, *.suffix or *", rest)
		}
	}
	if matcher != "" && rest == "" && m.host == "" && m.suffix == "" && !strings.Contains(matcher, "*") {
		return m, errors.New("the host is missing")
	}
	return m, nil
}

func (m hostMatcher) matches(a address, effect Effect) bool {
	switch {
	case m.sockets != nil:
		return a.scheme == "unix" && m.sockets.matches(Place{Abs: a.host}, "")
	case a.scheme == "unix":
		return effect != Allow && m == hostMatcher{}
	case m.scheme != "" && m.scheme != a.scheme,
		m.host != "" && m.host != a.host && !(a.scheme == "tcp" && ofThisMachine(m.host)),
		m.suffix != "" && !strings.HasSuffix(a.host, m.suffix):
		return false
	case m.port != "":
		return m.port == a.port
	}
	return effect != Allow || a.port == usualPort(a.scheme)
}

func (p *Policy) judgeHost(mode Mode, v verdict) verdict {
	a, err := parseAddress(v.need.Target)
	if err != nil {
		return v.mistaken(err)
	}
	v.target = a.String()
	doing := "connecting to " + quote(a.String())
	v.offers = []grant{{rule: a.rule(), kind: tool.Network}}
	local := a.scheme == "tcp" || a.scheme == "unix"
	if !local {
		v.offers[0].key = string(tool.Network) + "\x00" + a.String()
	}
	r, found := strongest(p.rulesFor(tool.Network), func(r Rule) bool { return r.host.matches(a, r.Effect) })
	if local && mode == Yolo && (!found || r.Effect == Ask) {
		v.effect, v.layer = Deny, builtIn
		v.reason = doing + " needs a rule in mode yolo, where nobody is asked: add " + a.rule()
		return v
	}
	if found {
		v.reason = doing + " is asked for by a rule"
		if r.Effect == Deny {
			v.reason = deniedBy(doing, r)
		}
		return v.withRule(r)
	}
	v.effect, v.layer, v.reason = mode.byDefault(tool.Network, false), layerOf(mode), doing+" needs approval"
	return v
}
