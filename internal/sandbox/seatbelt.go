//go:build unix

package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/proc/shim/namespace"
)

// seatbelt returns a plan's macOS sandbox profile and the parameters with its paths: a path is
// never part of the text. The last matching rule wins.
//
// Rules also cover missing paths, so no placeholders are needed. A locked place's parents cannot be
// moved, or the place could be recreated. Programs that check certificates ask a system service.
func seatbelt(p plan) (text string, params []string) {
	b := &profile{params: &params}
	b.line("(version 1)", "(deny default)",
		"(allow process-exec process-fork)",
		"(allow signal (target same-sandbox))",
		"(allow process-info* (target same-sandbox))",
		"(allow sysctl-read)",
		"(allow pseudo-tty)",
		"(allow ipc-posix-sem ipc-posix-shm)",
		`(allow mach-lookup (global-name "com.apple.trustd.agent") (global-name "com.apple.system.opendirectoryd.libinfo"))`,
		"(allow file-read*)",
		`(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))`,
		`(allow file-ioctl (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))`)
	for _, path := range append(slices.Clone(p.home.hidden), p.home.files...) {
		b.rule("deny", "file-read*", "subpath", path)
	}
	read, write := p.home.reach()
	write = slices.Concat([]string{p.workspace.path, p.cache}, p.own(), p.grants, write)
	for _, path := range append(read, write...) {
		b.rule("allow", "file-read*", "subpath", path)
		for _, dir := range p.home.hidden {
			for _, above := range append(between(dir, path), dir) {
				if isWithin(path, dir) {
					b.rule("allow", "file-read-metadata", "literal", above) // lookups on the way there
				}
			}
		}
	}
	for _, path := range write {
		b.rule("allow", "file-write*", "subpath", path)
	}
	for _, path := range p.home.masked {
		b.rule("deny", "file-read* file-write*", "subpath", path)
	}
	for _, path := range p.home.locked {
		b.rule("deny", "file-write*", "subpath", path)
	}
	for _, g := range p.guards {
		if g.kind == namespace.Locked {
			b.rule("deny", "file-write*", "subpath", g.path)
			for _, above := range between(p.root(g.path), g.path) {
				b.rule("deny", "file-write-unlink", "literal", above)
			}
		} else {
			b.rule("deny", "file-write-unlink", "literal", g.path)
		}
	}
	b.rule("deny", "file-write-unlink", "literal", p.workspace.path)
	for _, path := range p.still {
		b.rule("deny", "file-write*", "subpath", path)
	}
	for _, path := range slices.Concat(p.hidden, p.masked) {
		b.rule("deny", "file-read* file-write*", "subpath", path)
	}
	for _, path := range p.secrets {
		if !isWithin(p.cache, path) {
			b.rule("deny", "file-read* file-write*", "subpath", path)
			continue
		}
		b.rule("deny", "file-read* file-write*", "subpath", path)
		b.rule("allow", "file-read* file-write*", "subpath", p.cache) // the caches lie in adze's state
	}
	for _, path := range p.own() {
		b.rule("allow", "file-read* file-write*", "subpath", path) // so may the command's own folder
	}
	return strings.Join(b.lines, "\n") + "\n", params
}

// profile collects rules. A path becomes one parameter.
type profile struct {
	lines  []string
	params *[]string
}

func (b *profile) line(lines ...string) { b.lines = append(b.lines, lines...) }

func (b *profile) rule(effect, operations, match, path string) {
	at := slices.IndexFunc(*b.params, func(kv string) bool {
		_, value, _ := strings.Cut(kv, "=")
		return value == path
	})
	if at < 0 {
		at = len(*b.params)
		*b.params = append(*b.params, fmt.Sprintf("P%d=%s", at, path))
	}
	rule := fmt.Sprintf(`(%s %s (%s (param "P%d")))`, effect, operations, match, at)
	if !slices.Contains(b.lines, rule) || effect == "allow" {
		b.line(rule)
	}
}

func between(root, path string) (out []string) {
	for dir := filepath.Dir(path); dir != root && isWithin(dir, root) && dir != "/"; dir = filepath.Dir(dir) {
		out = append(out, dir)
	}
	return out
}
