package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"adze/internal/proc"
	"adze/internal/proc/shim/box"
)

// byLandlock restricts the command where it is, in the namespaces of everybody. It holds less than the others: there is
// no read-only place in a writable folder, no network of its own (so there is none at all), and files outside can still
// be looked at and have their modes changed.
func byLandlock(p plan) (proc.Walls, error) {
	if box.ABI() < 3 {
		return proc.Walls{}, errors.New("this kernel has no Landlock, or one that cannot hold truncation (Linux 6.2 can)")
	}
	if err := os.MkdirAll(p.cache, 0o700); err != nil {
		return proc.Walls{}, err
	}
	tmp, err := os.MkdirTemp(p.cache, "tmp-")
	if err != nil {
		return proc.Walls{}, err
	}
	hidden := append(slices.Clone(p.secrets), "/tmp", "/var/tmp", "/dev", "/run/user")
	rules := box.Rules{Read: append(others("/", hidden), "/dev/random", "/dev/urandom", box.Self), Write: append([]string{p.workspace.path, p.cache}, p.grants...)}
	rules.Write = append(rules.Write, "/dev/null", "/dev/zero", "/dev/full")
	for _, path := range []string{"/dev/tty", "/dev/ptmx", "/dev/pts"} {
		if _, err := os.Lstat(path); err == nil {
			rules.Write = append(rules.Write, path)
		}
	}
	return proc.Walls{
		Box:  box.Box{Rules: rules, Filter: box.LocalOnly, Blind: p.blind, Memory: p.memory, Processes: p.processes},
		Env:  p.environAt(p.cache, tmp),
		Done: func() proc.Findings { _ = os.RemoveAll(tmp); return proc.Findings{} },
	}, nil
}

// others are the files and folders below dir that are not hidden, named as near to dir as that goes: rules allow, they
// cannot forbid.
func others(dir string, hidden []string) (out []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case slices.Contains(hidden, path):
		case slices.ContainsFunc(hidden, func(h string) bool { return within(h, path) }):
			out = append(out, others(path, hidden)...)
		default:
			out = append(out, path)
		}
	}
	return out
}
