package web

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// transport returns the HTTP transport for one fetch: no proxy, and a dialer that
// resolves and judges addresses itself.
func (f *Fetcher) transport() *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // a proxy would resolve the name again
		DialContext:            f.policy.dial,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    ConnectTimeout,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost:    1,
	}
}

// Connect dials a host and port under the same rules as a fetch, for callers that forward
// connections: it judges the port, resolves the name, judges every address and dials one of them.
// The host is a name in lower-case ASCII or an address in its usual form, see [CanonicalHost].
func (p Policy) Connect(ctx context.Context, host string, port uint16) (net.Conn, error) {
	if err := p.judgePort(host, port, net.JoinHostPort(host, strconv.Itoa(int(port)))); err != nil {
		return nil, err
	}
	return p.connect(ctx, host, port)
}

// dial is the DialContext function for http.Transport.
func (p *Policy) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, err
	}
	return p.connect(ctx, host, uint16(port))
}

func (p *Policy) connect(ctx context.Context, host string, port uint16) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectTimeout)
	defer cancel()
	targets, err := p.resolve(ctx, host, port)
	if err != nil {
		return nil, err
	}
	var failures []error
	for i, at := range targets {
		conn, err := p.dialOne(ctx, host, at, len(targets)-i)
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// resolve returns a host's addresses. One forbidden address refuses them all: a name with both
// public and private addresses is an attack or a mistake, and which one is dialed would be chance.
func (p *Policy) resolve(ctx context.Context, host string, port uint16) ([]netip.AddrPort, error) {
	addrs, err := p.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	targets := make([]netip.AddrPort, len(addrs))
	for i, a := range addrs {
		targets[i] = netip.AddrPortFrom(a, port)
		if err := p.judgeAddr(host, targets[i]); err != nil {
			return nil, err
		}
	}
	return targets, nil
}

func (p *Policy) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	var addrs []netip.Addr
	var err error
	if p.Resolve != nil {
		addrs, err = p.Resolve(ctx, host)
	} else {
		addrs, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}
	plain := make([]netip.Addr, len(addrs)) // the slice may belong to the resolver
	for i, a := range addrs {
		plain[i] = a.Unmap() // resolvers return IPv4 addresses in mapped form
	}
	return plain, err
}

// dialOne connects to one address within its share of the remaining time, so that a dead first
// address leaves time for the next.
func (p *Policy) dialOne(ctx context.Context, host string, at netip.AddrPort, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok {
		share := max(time.Until(deadline)/time.Duration(left), 2*time.Second)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	if p.Dial != nil {
		return p.Dial(ctx, "tcp", at.String())
	}
	dialer := net.Dialer{Control: p.control(host)}
	return dialer.DialContext(ctx, "tcp", at.String())
}

// control judges the address again just before the system connects.
func (p *Policy) control(host string) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return fail(codeDenied, "the address %s cannot be judged", address)
		}
		return p.judgeAddr(host, at)
	}
}
