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
	"adze/internal/sandbox/proc/shim/namespace"
	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// weigh takes of what the walls refused (package witness) what the user could have done outside:
// that alone can be a reason to run a command there. Nothing is tried for it: permissions,
// listening ports and sockets are looked up.
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
	case seccomptrace.Written, seccomptrace.Made, seccomptrace.Fixed, seccomptrace.Absent:
		return p.weighWrite(f)
	case seccomptrace.Connected:
		return weighAddress(f.Text)
	case seccomptrace.Socket:
		info, err := os.Stat(f.Text)
		ok := err == nil && info.Mode()&os.ModeSocket != 0 && may(f.Text) && !inPassing(f.Text)
		return proc.Barred{Kind: proc.BarredSocket, What: legible(f.Text), Why: socketsWhy}, ok
	case seccomptrace.Abstract:
		return proc.Barred{Kind: proc.BarredSocket, What: "@" + legible(f.Text), Why: socketsWhy},
			strings.Contains(table("unix"), " @"+f.Text+"\n")
	case seccomptrace.Called:
		return weighCall(f.Text)
	}
	return proc.Barred{}, false
}

const socketsWhy = "because commands in the sandbox reach only sockets of their own"

// weighWrite asks whether the user may write what the command could not.
func (p *plan) weighWrite(f seccomptrace.Fact) (proc.Barred, bool) {
	if f.Kind == seccomptrace.Absent {
		f.Text = filepath.Clean(f.Text)
	}
	b := proc.Barred{Kind: proc.BarredWrite, What: legibleIn(p.workspace.path, f.Text), Why: "which is read only in the sandbox"}
	if slices.ContainsFunc(p.secrets, func(s string) bool { return within(f.Text, s) }) {
		b.Why = "which is kept from commands in the sandbox"
	}
	absent := p.home.covered(f.Text) && !p.home.visible(f.Text) && !within(f.Text, p.workspace.path)
	if absent {
		b.Why = "which is not shown in the sandbox"
	}
	protected := slices.ContainsFunc(p.guards, func(g guard) bool { return f.Text == g.path || g.kind == namespace.Locked && within(f.Text, g.path) })
	if protected {
		b.Why = "which is protected in the sandbox, because other programs run what is there"
	}
	for _, missing := range p.missing { // an empty folder of our own stands there now
		if within(f.Text, missing) {
			return b, may(filepath.Dir(missing))
		}
	}
	hidden := f.Kind == seccomptrace.Absent && !absent
	if hidden {
		b.What, b.Why = legible(f.Text), "whose folder is not there in the sandbox"
	}
	switch {
	case inPassing(f.Text):
		return b, false
	case hidden && !slices.ContainsFunc(p.private, func(dir string) bool { return within(f.Text, dir) }):
		return b, false
	case f.Kind == seccomptrace.Written && !absent:
		return b, may(f.Text)
	case absent && f.Kind == seccomptrace.Written:
		return b, may(f.Text) || !there(f.Text) && may(filepath.Dir(f.Text))
	case f.Kind == seccomptrace.Fixed && !protected && !absent:
		return b, false // a mount of the machine's own stays outside too
	}
	return b, may(filepath.Dir(f.Text))
}

func there(path string) bool {
	_, ok := entry(path)
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

// weighCall leaves out what only root could do outside.
func weighCall(name string) (proc.Barred, bool) {
	anybody := []string{"ptrace", "process_vm_readv", "process_vm_writev", "unshare", "clone with new namespaces", "keyctl", "add_key", "request_key", "perf_event_open",
		"socket AF_UNIX SOCK_DGRAM", "socket AF_INET", "socket AF_INET6", "socket AF_NETLINK"}
	b := proc.Barred{Kind: proc.BarredCall, What: name, Why: "which is closed in the sandbox"}
	if strings.HasPrefix(name, "socket AF_INET") {
		b = proc.Barred{Kind: proc.BarredConnect, What: "any host", Why: "because this sandbox has no network"}
	}
	return b, os.Geteuid() == 0 || slices.Contains(anybody, name)
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
