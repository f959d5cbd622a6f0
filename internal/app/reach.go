package app

import (
	"net/netip"
	"net/url"

	"adze/internal/policy"
	"adze/internal/web"
)

// reach lets the fetcher of pages go where the person's rules name a place that is otherwise refused. The gate is
// made later than the tools, and always before the first call.
func reach(gate func() *policy.Policy) web.Policy {
	return web.Policy{
		AllowPort:     func(host string, port uint16) bool { return gate().NamesPort(host, port) },
		AllowAddr:     func(host string, at netip.AddrPort) bool { return gate().NamesAddress(host, at) },
		AllowRedirect: func(_, to *url.URL) bool { return gate().Follows(to.String()) },
	}
}
