package web

import (
	"net/netip"
	"net/url"
	"strings"
)

// approved is the policy of one fetch whose address a user has said yes to: the port that is
// written there, and this machine's own addresses where the host says so itself. No other name
// opens them, wherever it leads, and a redirect to another host or port is judged as if nobody had
// been asked.
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

// ownAddress reports 127.0.0.0/8 and ::1 in their plain forms.
func ownAddress(a netip.Addr) bool { return a.IsLoopback() && !a.Is4In6() && a.Zone() == "" }

// ownName reports a host that means this machine in so many words: localhost and names below it
// (RFC 6761), or the number of a loopback address.
func ownName(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return ownAddress(a)
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
