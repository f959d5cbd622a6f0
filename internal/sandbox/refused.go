//go:build unix

package sandbox

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
)

// refused finds in the output of a command that failed what the walls kept it from: a path that an
// error names and that the user could write, a call that is closed, and where there is no network,
// one that it wanted. It goes by the words of errors, so it is a reason to ask the user, who reads
// it, and never one to run anything.
func (p *plan) refused(output string) (out []proc.Denial) {
	add := func(b proc.Denial, ok bool) {
		if ok && len(out) < proc.MaxDenied && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	denied := false
	for line := range strings.Lines(output[:min(len(output), maxSearched)]) {
		switch {
		case p.walled && offline().MatchString(line):
			add(proc.Denial{Kind: proc.BarredConnect, What: "any host", Why: "because this sandbox has no network"}, true)
			continue
		case unreachable().MatchString(line):
			add(proc.Denial{Kind: proc.BarredConnect, What: "a host", Why: "because programs in the sandbox reach hosts only through the proxy of HTTPS_PROXY"}, true)
			continue
		}
		at := refusal().FindStringIndex(line)
		if at == nil {
			continue
		}
		denied = denied || !absence().MatchString(line[at[0]:at[1]])
		if call := closedCall().FindString(line); call != "" && !strings.Contains(line, "'") {
			add(proc.Denial{Kind: proc.BarredCall, What: strings.ToLower(call), Why: "which is closed in the sandbox"}, true)
			continue
		}
		missing := absence().MatchString(line[at[0]:at[1]])
		for _, path := range p.paths(line, at[0]) {
			if !missing || p.hides(path) && making().MatchString(line) && (there(path) || !removing().MatchString(line)) {
				add(p.weighWrite(path))
			}
		}
	}
	if p.walled && denied && len(out) == 0 {
		add(proc.Denial{Kind: proc.BarredWrite, What: "what its output calls not permitted", Why: "because commands only read in this sandbox"}, true)
	}
	return out
}

// refusal finds the text of an error that walls give, as the C library and Node write it: EROFS,
// EACCES, EPERM, EBUSY, EXDEV, and where something is not there in the sandbox, or a folder in its
// place, ENOENT and EISDIR.
var refusal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)read-only file system|permission denied|operation not permitted|device or resource busy|invalid cross-device link|no such file or directory|directory nonexistent|is a directory|\b(EROFS|EACCES|EPERM|EBUSY)\b`)
})

// absence finds those of them that programs meet outside of a sandbox, too.
var absence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)no such file|nonexistent|is a directory`)
})

// making finds words of a program that was to change something, and a redirection of a shell.
var making = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(create|touch|remove|move|write|writing|rename|unlink|mkdir|link)\b|sh: (line )?\d+: `)
})

// removing finds those of them about what must be there.
var removing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(remove|unlink)\b`) })

// hides reports a path that is not in the sandbox, or is protected there by a folder in its place.
func (p *plan) hides(path string) bool {
	folder := filepath.Dir(path)
	return p.home.covered(path) && !p.home.visible(path) && !within(path, p.workspace.path) ||
		slices.ContainsFunc(p.missing, func(m string) bool { return within(path, m) }) ||
		!p.walled && slices.ContainsFunc(p.private, func(dir string) bool { return within(folder, dir) && folder != dir && there(folder) })
}

// offline finds the text of an error of a program that has no network.
var offline = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)could not resolve|couldn't resolve|name resolution|name or service not known|network is unreachable|getaddrinfo|\b(ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b|dial (tcp|udp|unix)|socket: |failed to establish a new connection|could ?n.t connect|unable to connect|failed to connect`)
})

// unreachable finds those of a program that asks for no proxy where a proxy is the only way out.
var unreachable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)could not resolve host|name resolution|name or service not known|network is unreachable|\b(ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b`)
})

// closedCall finds a call that the filter closes and that programs are made for.
var closedCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)ptrace|perf_event_open|process_vm_readv|keyctl|\b(unshare|setns|mount|umount|chroot|namespaces?)\b`)
})

// quoted finds a name in quotes.
var quoted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("'([^']+)'|\"([^\"]+)\"|`([^`']+)[`']|\u2018([^\u2019]+)\u2019")
})

// paths are those that a line with an error names: what stands in quotes, what looks like a path,
// and the last word before the error.
func (p *plan) paths(line string, at int) (out []string) {
	add := func(name string) {
		if name = strings.TrimRight(strings.TrimLeft(name, "'\"`\u2018(["), "'\"`\u2019,.)]:"); name != "" && !strings.ContainsAny(name, "\t\x00") {
			if path := filepath.Clean(p.absolute(name)); !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	for _, m := range quoted().FindAllStringSubmatch(line, mostWords) {
		add(strings.Join(m[1:], ""))
	}
	for _, word := range strings.Fields(line) {
		if word = strings.TrimLeft(word, "'\"`("); strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~/") {
			add(word)
		}
	}
	before := strings.TrimRight(line[:at], ": \t")
	if words := strings.Fields(before[strings.LastIndexByte(before, ':')+1:]); len(out) == 0 && len(words) > 0 && !errorNumber().MatchString(words[len(words)-1]) {
		add(words[len(words)-1])
	}
	return out[:min(len(out), mostWords)]
}

// errorNumber finds what Python writes before the text of an error.
var errorNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+\]?$`) })

// mostWords bounds the names that are looked at of one line.
const mostWords = 8

// weighWrite asks whether the walls keep a path as it is and the user may write it.
func (p *plan) weighWrite(path string) (proc.Denial, bool) {
	b := proc.Denial{Kind: proc.BarredWrite, What: legibleIn(p.workspace.path, path), Why: "which is read only in the sandbox"}
	absent := p.home.covered(path) && !p.home.visible(path) && !within(path, p.workspace.path)
	protected := slices.ContainsFunc(p.guards, func(g guard) bool { return path == g.path || g.kind == namespace.Locked && within(path, g.path) })
	folder := filepath.Dir(path)
	switch {
	case inPassing(path):
		return b, false
	case slices.ContainsFunc(p.secrets, func(s string) bool { return within(path, s) }):
		b.Why = "which is kept from commands in the sandbox"
	case absent:
		b.Why = "which is not shown in the sandbox"
	case protected:
		b.Why = "which is protected in the sandbox, because other programs run what is there"
	case p.opens(path):
		return b, false
	case !p.walled && slices.ContainsFunc(p.private, func(dir string) bool { return within(folder, dir) && folder != dir }):
		b.What, b.Why = legible(path), "whose folder is not there in the sandbox"
	}
	for _, missing := range p.missing { // an empty folder of adze's own stands there now
		if within(path, missing) {
			return b, may(filepath.Dir(missing))
		}
	}
	if there(path) && !protected {
		return b, may(path)
	}
	return b, may(folder)
}

// opens reports that the walls let a path be written.
func (p *plan) opens(path string) bool {
	open := append(slices.Clone(p.own()), p.cache, insideCache, "/dev", "/proc")
	if !p.walled {
		open = append(append(open, p.workspace.path), p.grants...)
	}
	for _, layer := range p.layers {
		open = append(open, layer.Path)
	}
	return p.home.opened(path) || slices.ContainsFunc(open, func(dir string) bool { return within(path, dir) }) ||
		!p.walled && slices.ContainsFunc(p.private, func(dir string) bool { return path == dir || filepath.Dir(path) == dir })
}

// may reports that the user can write something, or make names in a folder (access(2)).
func may(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
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
