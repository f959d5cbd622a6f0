//go:build amd64 || arm64

package seccomptrace

import (
	"bytes"
	"strconv"
	"strings"
	"syscall"
)

// mapped reports an address of IPv4 in the form of IPv6.
func mapped(ip []byte) bool {
	return len(ip) == 16 && bytes.Equal(ip[:12], []byte{10: 0xff, 11: 0xff})
}

func ofThisMachine(ip []byte) bool {
	if mapped(ip) {
		ip = ip[12:]
	}
	if len(ip) == 4 {
		return ip[0] == 127 || ip[0] == 0
	}
	return bytes.Equal(ip[:15], make([]byte, 15)) && ip[15] <= 1
}

// firstOfKernel is the least port that Linux gives who asks for any (ip_local_port_range of
// ip-sysctl).
const firstOfKernel = 32768

// served reports that a port of this machine is one of the command's own. That is known from what
// it bound: the kernel's tables of sockets take milliseconds to read.
func (w *Witness) served(port uint16) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ports[port] || w.ports[0] && port >= firstOfKernel
}

// bound remembers a port that the command itself serves.
func (w *Witness) bound(n *notice, at, size uint64) {
	raw := n.read(at, int(min(size, 4)))
	if len(raw) < 4 {
		return
	}
	if family := uint16(raw[0]) | uint16(raw[1])<<8; family != syscall.AF_INET && family != syscall.AF_INET6 {
		return
	}
	port := uint16(raw[2])<<8 | uint16(raw[3])
	if port == 0 && w.asks > 0 { // the port is known when it listens
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ports[port] = true
}

// spell writes an address as other programs read it, without making it short.
func spell(ip []byte) string {
	var parts []string
	if len(ip) == 4 {
		for _, b := range ip {
			parts = append(parts, strconv.Itoa(int(b)))
		}
		return strings.Join(parts, ".")
	}
	for i := 0; i < len(ip); i += 2 {
		parts = append(parts, strconv.FormatUint(uint64(ip[i])<<8|uint64(ip[i+1]), 16))
	}
	return "[" + strings.Join(parts, ":") + "]"
}
