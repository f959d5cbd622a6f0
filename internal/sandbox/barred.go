//go:build unix

package sandbox

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// weigh takes of the addresses and sockets that the walls refused (package seccomptrace) those that
// the user could have reached outside: that alone can be a reason to run a command there. Nothing
// is tried for it: listening ports and sockets are looked up.
func (p *plan) weigh(facts []seccomptrace.Fact) (out []proc.Barred) {
	for _, f := range facts {
		b, ok := p.weighOne(f)
		if ok && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	return out
}

func (p *plan) weighOne(f seccomptrace.Fact) (proc.Barred, bool) {
	switch f.Kind {
	case seccomptrace.Connected:
		return weighAddress(f.Text)
	case seccomptrace.Socket:
		info, err := os.Stat(f.Text)
		ok := err == nil && info.Mode()&os.ModeSocket != 0 && may(f.Text) && !inPassing(f.Text)
		return proc.Barred{Kind: proc.BarredSocket, What: legible(f.Text), Why: socketsWhy}, ok
	case seccomptrace.Abstract:
		return proc.Barred{Kind: proc.BarredSocket, What: "@" + legible(f.Text), Why: socketsWhy},
			strings.Contains(table("unix"), " @"+f.Text+"\n")
	}
	return proc.Barred{}, false
}

const socketsWhy = "because commands in the sandbox reach only sockets of their own"

func there(path string) bool {
	_, ok := lookAt(path)
	return ok
}

// may reports that the user can write something, or make names in a folder (access(2)).
func may(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}

// weighAddress asks, of an address of this machine, whether something listens there. The others
// lead out, where only the proxy does; those of the link are left out, because there the machine's
// own rights are given away (169.254.169.254).
func weighAddress(text string) (proc.Barred, bool) {
	to, err := netip.ParseAddrPort(text)
	if err != nil || to.Addr().IsLinkLocalUnicast() {
		return proc.Barred{}, false
	}
	b := proc.Barred{Kind: proc.BarredConnect, What: to.String(), Why: "because programs in the sandbox reach hosts only through the proxy of HTTPS_PROXY"}
	if to.Port() == 53 {
		b.What = "the name server " + b.What
	}
	if !to.Addr().IsLoopback() && !to.Addr().IsUnspecified() {
		return b, true
	}
	b.Why = "where a program listens outside, because the sandbox has a network of its own"
	tables := []string{"tcp6", "udp6", "tcp", "udp"} // a server of IPv6 may serve both
	if to.Addr().Is6() {
		tables = tables[:2]
	}
	for _, name := range tables {
		if hasPort(table(name), to.Port(), name[0] == 't') {
			return b, true
		}
	}
	return b, false
}

// table is one of the kernel's about this machine's network; empty where there is none.
func table(name string) string {
	data, _ := os.ReadFile("/proc/net/" + name)
	return string(data)
}

// hasPort looks for a local port in a table of the kernel (proc_net_tcp(5)); of connections only
// those that listen count.
func hasPort(table string, port uint16, listening bool) bool {
	want := ":" + strings.ToUpper(strconv.FormatUint(uint64(port)|1<<16, 16))[1:]
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) > 3 && strings.HasSuffix(f[1], want) && (!listening || f[3] == "0A") {
			return true
		}
	}
	return false
}

// inPassing are places that programs write or ask on their way and do without: the import of
// Python, the go command's telemetry and the folders that it makes for it, the C library's and
// systemd's services of names and logs.
func inPassing(path string) bool {
	return strings.HasSuffix(path, "/.config") || strings.HasSuffix(path, "/.config/go") || strings.Contains(path, "/__pycache__") || strings.Contains(path, "/go/telemetry") || strings.HasSuffix(path, "/nscd/socket") ||
		strings.Contains(path, "/run/systemd/") || path == "/dev/log" || strings.Contains(path, "/dbus/system_bus_socket")
}

// legibleIn is a path, relative where it is in the workspace.
func legibleIn(workspace, path string) string {
	if rel, err := filepath.Rel(workspace, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return legible(path)
}
