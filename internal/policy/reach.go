package policy

import (
	"fmt"
	"net/netip"

	"adze/tool"
)

// The page fetcher refuses more than host rules can express: unusual ports, and local or private
// addresses. These functions report whether the user named such a target. No mode allows one, nor
// does a rule without a host.

// NamesPort reports whether an allow rule covers the host with this port written out.
func (p *Policy) NamesPort(host string, port uint16) bool {
	return p.named(host, port, func(m hostMatcher) bool { return m.port != "" })
}

// NamesAddress reports whether the user named the address itself: in an allow rule, numerically, or
// for the session. A host name does not suffice, because its owner controls its target; only
// localhost means this machine.
func (p *Policy) NamesAddress(host string, at netip.AddrPort) bool {
	number := at.Addr().Unmap().WithZone("").String()
	exact := func(m hostMatcher) bool { return m.host == number }
	if p.named(number, at.Port(), exact) {
		return true
	}
	local := func(m hostMatcher) bool { return m.host == "localhost" }
	return host == "localhost" && at.Addr().IsLoopback() && p.named(host, at.Port(), local)
}

// Follows reports whether an allow rule covers a redirect's target.
func (p *Policy) Follows(url string) bool {
	a, err := parseAddress(url)
	if err != nil {
		return false
	}
	r, found := strongest(p.rulesFor(tool.Network), func(r Rule) bool { return r.Matcher != "" && r.host.matches(a, r.Effect) })
	return found && r.Effect == Allow
}

// named looks for an allow rule or session grant that names the host and satisfies counts. A deny
// or ask that matches under either scheme wins.
func (p *Policy) named(host string, port uint16, counts func(hostMatcher) bool) bool {
	found := false
	for _, scheme := range []string{"http", "https"} {
		a := address{scheme, host, fmt.Sprint(port)}
		r, matched := strongest(p.rulesFor(tool.Network), func(r Rule) bool {
			return r.host.matches(a, r.Effect) && (r.Effect != Allow || counts(r.host))
		})
		if matched && r.Effect != Allow {
			return false
		}
		found = found || matched || p.granted(a, counts)
	}
	return found
}

// granted reports whether the user granted exactly this address for the session.
func (p *Policy) granted(a address, counts func(hostMatcher) bool) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.grants[string(tool.Network)+"\x00"+a.String()] && counts(hostMatcher{host: a.host, port: a.port})
}
