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

// refused finds a failed command's refusals by the sandbox in its output: paths in errors that the
// user could write, closed calls, and missing network. It matches error texts, so it may justify a
// question to the user, but never an action.
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
			add(proc.Denial{Kind: proc.BarredConnect, Target: "any host", Reason: "because this sandbox has no network"}, true)
			continue
		case unreachable().MatchString(line):
			add(proc.Denial{Kind: proc.BarredConnect, Target: "a host", Reason: "because programs in the sandbox reach hosts only through the proxy of HTTPS_PROXY"}, true)
			continue
		}
		at := refusal().FindStringIndex(line)
		if at == nil {
			continue
		}
		denied = denied || !absence().MatchString(line[at[0]:at[1]])
		if call := closedCall().FindString(line); call != "" && !strings.Contains(line, "'") {
			add(proc.Denial{Kind: proc.BarredCall, Target: strings.ToLower(call), Reason: "which is closed in the sandbox"}, true)
			continue
		}
		missing := absence().MatchString(line[at[0]:at[1]])
		for _, path := range p.paths(line, at[0]) {
			if !missing || p.hides(path) && making().MatchString(line) && (exists(path) || !removing().MatchString(line)) {
				add(p.weighWrite(path))
			}
		}
	}
	if p.walled && denied && len(out) == 0 {
		add(proc.Denial{Kind: proc.BarredWrite, Target: "what its output calls not permitted", Reason: "because commands only read in this sandbox"}, true)
	}
	return out
}

// refusal matches error texts caused by the sandbox, as written by the C library and Node: EROFS,
// EACCES, EPERM, EBUSY, EXDEV, and ENOENT and EISDIR for paths that are missing inside or have a
// placeholder folder.
var refusal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)read-only file system|permission denied|operation not permitted|device or resource busy|invalid cross-device link|no such file or directory|directory nonexistent|is a directory|\b(EROFS|EACCES|EPERM|EBUSY)\b`)
})

// absence matches those common outside a sandbox too.
var absence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)no such file|nonexistent|is a directory`)
})

// making matches words about a change, and a shell's redirection error.
var making = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(create|touch|remove|move|write|writing|rename|unlink|mkdir|link)\b|sh: (line )?\d+: `)
})

// removing matches words about changes to an existing file.
var removing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(remove|unlink)\b`) })

// hides reports whether a path is missing in the sandbox or has a placeholder folder.
func (p *plan) hides(path string) bool {
	folder := filepath.Dir(path)
	return p.home.covered(path) && !p.home.visible(path) && !isWithin(path, p.workspace.path) ||
		slices.ContainsFunc(p.missing, func(m string) bool { return isWithin(path, m) }) ||
		!p.walled && slices.ContainsFunc(p.private, func(dir string) bool { return isWithin(folder, dir) && folder != dir && exists(folder) })
}

var offline = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)could not resolve|couldn't resolve|name resolution|name or service not known|network is unreachable|getaddrinfo|\b(ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b|dial (tcp|udp|unix)|socket: |failed to establish a new connection|could ?n.t connect|unable to connect|failed to connect`)
})

// unreachable matches errors of programs without proxy support.
var unreachable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)could not resolve host|name resolution|name or service not known|network is unreachable|\b(ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b`)
})

// closedCall matches calls refused by the filter.
var closedCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)ptrace|perf_event_open|process_vm_readv|keyctl|\b(unshare|setns|mount|umount|chroot|namespaces?)\b`)
})

var quoted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("'([^']+)'|\"([^\"]+)\"|`([^`']+)[`']|\u2018([^\u2019]+)\u2019")
})

// paths returns the paths named in an error's line: quoted names, likely paths, and the last word
// before the error.
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

// errorNumber matches Python's number before an error text.
var errorNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+\]?$`) })

const mostWords = 8

// weighWrite returns a Denial if the sandbox protects path and the user could write it.
func (p *plan) weighWrite(path string) (proc.Denial, bool) {
	b := proc.Denial{Kind: proc.BarredWrite, Target: legibleIn(p.workspace.path, path), Reason: "which is read only in the sandbox"}
	absent := p.home.covered(path) && !p.home.visible(path) && !isWithin(path, p.workspace.path)
	protected := slices.ContainsFunc(p.guards, func(g guard) bool { return path == g.path || g.kind == namespace.Locked && isWithin(path, g.path) })
	folder := filepath.Dir(path)
	switch {
	case inPassing(path):
		return b, false
	case slices.ContainsFunc(p.secrets, func(s string) bool { return isWithin(path, s) }):
		b.Reason = "which is kept from commands in the sandbox"
	case absent:
		b.Reason = "which is not shown in the sandbox"
	case protected:
		b.Reason = "which is protected in the sandbox, because other programs run what is there"
	case p.opens(path):
		return b, false
	case !p.walled && slices.ContainsFunc(p.private, func(dir string) bool { return isWithin(folder, dir) && folder != dir }):
		b.Target, b.Reason = legible(path), "whose folder is not there in the sandbox"
	}
	for _, missing := range p.missing { // adze's own placeholder is there now
		if isWithin(path, missing) {
			return b, may(filepath.Dir(missing))
		}
	}
	if exists(path) && !protected {
		return b, may(path)
	}
	return b, may(folder)
}

func (p *plan) opens(path string) bool {
	open := append(slices.Clone(p.own()), p.cache, insideCache, "/dev", "/proc")
	if !p.walled {
		open = append(append(open, p.workspace.path), p.grants...)
	}
	for _, layer := range p.layers {
		open = append(open, layer.Path)
	}
	return p.home.opened(path) || slices.ContainsFunc(open, func(dir string) bool { return isWithin(path, dir) }) ||
		!p.walled && slices.ContainsFunc(p.private, func(dir string) bool { return path == dir || filepath.Dir(path) == dir })
}

// may reports whether the user may write a file, or create names in a folder (access(2)).
func may(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}

// inPassing reports places that programs access on the way and do without: Python's import caches,
// the go command's telemetry and its folders, the name and log services of the C library and
// systemd.
func inPassing(path string) bool {
	return strings.HasSuffix(path, "/.config") || strings.HasSuffix(path, "/.config/go") || strings.Contains(path, "/__pycache__") || strings.Contains(path, "/go/telemetry") || strings.HasSuffix(path, "/nscd/socket") ||
		strings.Contains(path, "/run/systemd/") || path == "/dev/log" || strings.Contains(path, "/dbus/system_bus_socket")
}

// legibleIn returns a path on one line, relative if it is in the workspace.
func legibleIn(workspace, path string) string {
	if rel, err := filepath.Rel(workspace, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return legible(path)
}
