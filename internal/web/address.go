package web

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// forbidden returns why a connection to an address is refused, or "" for a public internet address.
// Beyond the ssrf package's ranges (the IANA special-purpose registries, which have all other forms
// of IPv6 that embed an address) it refuses ISATAP addresses and the cloud's metadata services.
func forbidden(a netip.Addr) string {
	switch b := a.As16(); {
	case a.Zone() != "":
		return "an address with a zone"
	case metadata(a):
		return "a cloud metadata address"
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
	case a.Is6() && b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5E && b[11] == 0xFE:
		return "an ISATAP address" // RFC 5214: a gateway would unwrap the IPv4 address inside
	case ssrf.New(ssrf.WithAnyPort()).SafeAddr(a) != nil:
		return "a reserved address"
	}
	return ""
}

func metadata(a netip.Addr) bool {
	switch a.String() {
	case "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "169.254.169.254", "169.254.170.2":
		return true
	}
	return false
}
