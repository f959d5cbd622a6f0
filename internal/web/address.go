package web

import (
	"encoding/binary"
	"net/netip"

	"code.dny.dev/ssrf"
)

// forbidden returns why a connection to an address is refused, or "" for a public internet address.
// Beyond the ssrf package's ranges (the IANA special-purpose registries) it refuses addresses that
// embed another address and cloud metadata services on public addresses.
func forbidden(a netip.Addr) string {
	if a.Zone() != "" {
		return "an address with a zone"
	}
	if inner, kind := embedded(a); kind != "" {
		if why := forbidden(inner); why != "" {
			return kind + " of " + inner.String() + ", " + why
		}
		return kind + " of " + inner.String()
	}
	if name := metadata(a); name != "" {
		return name
	}
	if why := named(a); why != "" {
		return why
	}
	if ssrf.New(ssrf.WithAnyPort()).SafeAddr(a) != nil {
		return "a reserved address"
	}
	return ""
}

func named(a netip.Addr) string {
	switch {
	case a.IsUnspecified():
		return "an unspecified address"
	case a.IsLoopback():
		return "a loopback address"
	case a.IsPrivate():
		return "a private address"
	case a.IsLinkLocalUnicast():
		return "a link-local address"
	case a.IsMulticast():
		return "a multicast address"
	case a.Is4() && a.As4()[0] == 100 && a.As4()[1]&0xC0 == 64:
		return "a shared (carrier NAT) address"
	}
	return ""
}

// metadata recognizes cloud metadata services whose addresses are not link-local.
func metadata(a netip.Addr) string {
	switch a.String() {
	case "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "169.254.169.254", "169.254.170.2":
		return "a cloud metadata address"
	}
	return ""
}

// embedded returns the IPv4 address inside an IPv6 address and the embedding scheme's name. All are
// refused whatever they hold: a direct connection never needs one, and a gateway would unwrap it.
func embedded(a netip.Addr) (netip.Addr, string) {
	if !a.Is6() {
		return a, ""
	}
	b := a.As16()
	head := binary.BigEndian.Uint64(b[:8])
	last := netip.AddrFrom4([4]byte(b[12:]))
	switch {
	case a.Is4In6():
		return a.Unmap(), "the IPv4-mapped form"
	case head == 0 && b[8]|b[9]|b[10]|b[11] == 0 && (b[12] != 0 || b[13] != 0):
		return last, "the IPv4-compatible form" // RFC 4291 2.5.5.1; ::1 and the like are not
	case head == 0 && b[8] == 0xFF && b[9] == 0xFF && b[10]|b[11] == 0:
		return last, "the IPv4-translated form" // ::ffff:0:a.b.c.d, RFC 2765
	case head>>32 == 0x0064FF9B:
		return last, "a NAT64 address" // 64:ff9b::/96 and 64:ff9b:1::/48, RFC 6052, 8215
	case head>>48 == 0x2002:
		return netip.AddrFrom4([4]byte(b[2:6])), "a 6to4 address" // RFC 3056
	case head>>32 == 0x20010000:
		for i := range 4 {
			b[12+i] ^= 0xFF // the client's address is stored inverted, RFC 4380
		}
		return netip.AddrFrom4([4]byte(b[12:])), "a Teredo address"
	case (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5E && b[11] == 0xFE:
		return last, "an ISATAP address" // RFC 5214
	}
	return a, ""
}
