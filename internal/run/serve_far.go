package run

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"adze/internal/config/paths"
	"adze/internal/editors/pairing"
	"adze/internal/editors/serve"
	"adze/internal/text/usage"
)

// farWish is how devices beyond this machine are to come in.
type farWish struct {
	listen    string
	names     []string
	cert, key string
}

func (f *farWish) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.listen, "listen", "", "also let paired devices in over TLS, at this `ADDRESS`, such as :4443 or 192.0.2.7:4443")
	flags.StringArrayVar(&f.names, "name", nil, "also let paired devices in by this `NAME`, which a tunnel or the network has for this machine; repeatable")
	flags.StringVar(&f.cert, "cert", "", "the certificate `FILE` for --listen, as PEM; without one adze makes its own")
	flags.StringVar(&f.key, "key", "", "the key `FILE` of --cert, as PEM")
}

// open listens for devices, where that is wished. Without --listen a tunnel brings them to the
// address of this machine.
func (f *farWish) open(at paths.Places) (*serve.Far, net.Listener, error) {
	switch {
	case f.listen == "" && f.cert+f.key != "":
		return nil, nil, usage.Mistake("add --listen, such as --listen :4443", "--cert and --key are for --listen")
	case (f.cert == "") != (f.key == ""):
		return nil, nil, usage.Mistake("give both", "--cert and --key belong together")
	case f.listen == "" && len(f.names) == 0:
		return nil, nil, nil
	}
	for _, n := range f.names {
		if n == "" || strings.ContainsAny(n, "/:@ ") {
			return nil, nil, usage.Mistake("give a name alone, such as box.example.ts.net", "--name %s: this is no host name", n)
		}
	}
	kept := filepath.Join(at.State, paths.Served)
	devices := &pairing.Devices{Path: filepath.Join(kept, paths.Devices)}
	if err := os.MkdirAll(kept, 0o700); err != nil {
		return nil, nil, err
	}
	far := &serve.Far{Hosts: map[string]bool{}, Devices: devices, Exchange: &pairing.Exchange{Devices: devices}}
	if f.listen == "" {
		for _, n := range f.names {
			far.Hosts[strings.ToLower(n)] = true
		}
		far.Address = "https://" + strings.ToLower(f.names[0])
		return far, nil, nil
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return nil, nil, usage.Mistake("give another address, such as --listen :4443", "--listen: %v", err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	hosts, err := f.hosts(l.Addr().(*net.TCPAddr).IP)
	var cert tls.Certificate
	switch {
	case err != nil:
	case f.cert != "":
		cert, err = tls.LoadX509KeyPair(f.cert, f.key)
	default:
		cert, err = pairing.Certificate(filepath.Join(kept, paths.Certificate), hosts, time.Now())
	}
	if err != nil {
		_ = l.Close() // nobody came yet
		return nil, nil, usage.Mistake("check --cert, --key and the address", "--listen: %v", err)
	}
	for _, h := range hosts {
		far.Hosts[net.JoinHostPort(h, port)] = true
		if port == "443" {
			far.Hosts[strings.TrimSuffix(net.JoinHostPort(h, ""), ":")] = true
		}
	}
	far.Address, far.Fingerprint = "https://"+net.JoinHostPort(hosts[0], port), pairing.Fingerprint(cert)
	return far, tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}

// hosts are the names and addresses by which devices reach what listens there: the names that were
// given, then the address, or where it is any the addresses of this machine.
func (f *farWish) hosts(ip net.IP) ([]string, error) {
	var out []string
	for _, n := range f.names {
		out = append(out, strings.ToLower(n))
	}
	if !ip.IsUnspecified() {
		return append(out, ip.String()), nil
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			out = append(out, n.IP.String())
		}
	}
	// IPv4 comes first, then IPv6, and addresses that only this machine reaches come last.
	slices.SortStableFunc(out[len(f.names):], func(a, b string) int {
		rank := func(s string) int {
			ip := net.ParseIP(s)
			switch {
			case ip.IsLoopback():
				return 2
			case ip.To4() == nil:
				return 1
			}
			return 0
		}
		return rank(a) - rank(b)
	})
	return out, nil
}
