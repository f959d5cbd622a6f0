package policy

import (
	"fmt"
	"net/netip"

	"adze/tool"
)

// The fetcher of pages refuses more than a rule about hosts can say: other ports than the usual,
// and addresses of this machine and its networks. What follows tells it where a user has named such
// a place. A mode never opens one, nor does a rule that names no host.

// NamesPort reports that an allow rule covers the host with this very port written out.
func (p *Policy) NamesPort(host string, port uint16) bool {
	return p.named(host, port, func(m hostMatcher) bool { return m.port != "" })
}

// NamesAddress reports that a user has named the address itself: in an allow rule, by its number,
// or for the rest of the session. A host's name is not enough, since whoever owns the name decides
// where it leads; only localhost means this machine.
func (p *Policy) NamesAddress(host string, at netip.AddrPort) bool {
	number := at.Addr().Unmap().WithZone("").String()
	exact := func(m hostMatcher) bool { return m.host == number }
	if p.named(number, at.Port(), exact) {
		return true
	}
	local := func(m hostMatcher) bool { return m.host == "localhost" }
	return host == "localhost" && at.Addr().IsLoopback() && p.named(host, at.Port(), local)
}

// Follows reports that an allow rule covers where a redirect leads.
func (p *Policy) Follows(url string) bool {
	a, err := parseAddress(url)
	if err != nil {
		return false
	}
	r, found := strongest(p.rulesFor(tool.Network), func(r Rule) bool { return r.Matcher != "" && r.host.matches(a, r.Effect) })
	return found && r.Effect == Allow
}

// named looks for an allow rule or a grant of the session that names the host in the way that
// counts. A deny or ask that matches under either scheme wins.
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

// granted reports that a user has said yes to this very address for the rest of the session.
func (p *Policy) granted(a address, counts func(hostMatcher) bool) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.grants[string(tool.Network)+"\x00"+a.String()] && counts(hostMatcher{host: a.host, port: a.port})
}
