package web

import (
	"net/netip"
	"net/url"
	"strings"
)

// approved returns the policy for a fetch whose URL the user approved: it also allows the port in
// the URL, and loopback addresses if the host itself names them. A host name that merely resolves
// to a loopback address stays refused, and a redirect to another host or port is judged without the
// approval.
func (p Policy) approved(u *url.URL) Policy {
	same := func(host string, port uint16) bool { return host == u.Hostname() && port == portOf(u) }
	allowPort, allowAddr := p.AllowPort, p.AllowAddr
	p.AllowPort = func(host string, port uint16) bool {
		return same(host, port) || allowPort != nil && allowPort(host, port)
	}
	p.AllowAddr = func(host string, at netip.AddrPort) bool {
		return same(host, at.Port()) && ownAddress(at.Addr()) && ownName(host) || allowAddr != nil && allowAddr(host, at)
	}
	return p
}

// ownAddress reports whether a is in 127.0.0.0/8 or is ::1, in plain form.
func ownAddress(a netip.Addr) bool { return a.IsLoopback() && !a.Is4In6() && a.Zone() == "" }

// ownName reports whether host names this machine literally: localhost, a name below it (RFC 6761)
// or a loopback address.
func ownName(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return ownAddress(a)
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
