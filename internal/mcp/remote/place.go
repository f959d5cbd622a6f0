package remote

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"adze/internal/web"
)

// place lists the user's addresses: only these hosts may resolve to a private network.
type place []*url.URL

// dial connects to a checked address, for http.Transport.
func (p place) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, err
	}
	name, err := web.CanonicalHost(host)
	if err != nil {
		return nil, err
	}
	policy := web.Policy{
		AllowPort: func(string, uint16) bool { return true }, // services use any port
		AllowAddr: func(host string, at netip.AddrPort) bool { return p.owns(host, at) },
	}
	conn, err := policy.Connect(ctx, name, uint16(port))
	var refused *web.Error
	if errors.As(err, &refused) && refused.Code == "denied" {
		return nil, Refuse("configure that address itself if it is meant", "%s stands for an address of this machine or a private network, and nobody configured it so", address)
	}
	return conn, err
}

// owns reports whether an address may be used although it is not public. A name other than this
// machine's own may lead into a company's network, but never to this machine, which the owner of
// the name could choose.
func (p place) owns(host string, at netip.AddrPort) bool {
	for _, u := range p {
		name, err := web.CanonicalHost(u.Hostname())
		if err != nil || name != host || Port(u) != strconv.Itoa(int(at.Port())) {
			continue
		}
		if _, err := netip.ParseAddr(host); err == nil {
			return !at.Addr().IsUnspecified()
		}
		if own := host == "localhost" || strings.HasSuffix(host, ".localhost"); own {
			return at.Addr().IsLoopback()
		}
		return at.Addr().IsPrivate()
	}
	return false
}

// Port returns a web address's port.
func Port(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case strings.EqualFold(u.Scheme, "http"):
		return "80"
	case strings.HasPrefix(strings.ToLower(u.Scheme), "socks5"):
		return "1080"
	}
	return "443"
}

// SameOrigin compares scheme, host and port.
func SameOrigin(a, b *url.URL) bool {
	one, err := web.CanonicalHost(a.Hostname())
	other, err2 := web.CanonicalHost(b.Hostname())
	return err == nil && err2 == nil && one == other && strings.EqualFold(a.Scheme, b.Scheme) && Port(a) == Port(b)
}

// Loopback reports whether a host is explicitly this machine.
func Loopback(u *url.URL) bool {
	host, err := web.CanonicalHost(u.Hostname())
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}
