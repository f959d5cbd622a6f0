package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
)

// byLandlock restricts the command in the host's namespaces. Landlock cannot make a place read only
// inside a writable folder, so a writable workspace would expose git's hooks and editors' settings.
// Therefore the command only reads the workspace, and writes to a temporary folder, the private
// caches and the folders that the user opens for writing. It cannot make sockets or set modes,
// owners and times, for which Landlock has no rules.
func byLandlock(p plan) (proc.Confinement, error) {
	if namespace.ABI() < 3 {
		return proc.Confinement{}, errors.New("this kernel has no Landlock, or one that cannot hold truncation (Linux 6.2 can)")
	}
	if err := os.MkdirAll(p.cache, 0o700); err != nil {
		return proc.Confinement{}, err
	}
	tmp, err := os.MkdirTemp(p.cache, "tmp-")
	if err != nil {
		return proc.Confinement{}, err
	}
	hidden := slices.Concat(p.secrets, p.masked, p.hidden, p.home.hidden, p.home.files, p.home.masked, []string{"/tmp", "/var/tmp", "/dev", "/run/user"})
	write := []string{p.cache, "/dev/null", "/dev/zero", "/dev/full"}
	for _, path := range []string{"/dev/tty", "/dev/ptmx", "/dev/pts"} {
		if exists(path) {
			write = append(write, path)
		}
	}
	read, opened := p.home.reach()
	write = append(write, p.opened(opened)...)
	for _, root := range append([]string{p.workspace.path}, p.grants...) {
		if slices.ContainsFunc(hidden, func(h string) bool { return isWithin(h, root) }) {
			read = append(read, others(root, hidden)...)
		} else {
			read = append(read, root)
		}
	}
	made, err := rulesOf(hidden, read, write)
	if err != nil {
		_ = os.RemoveAll(tmp)
		return proc.Confinement{}, err
	}
	return proc.Confinement{
		Box:   namespace.Box{Rules: namespace.Rules{Write: write, Descriptor: proc.FirstFile}, Filter: namespace.NoSockets, Memory: p.memory, Processes: p.processes},
		Files: []*os.File{made},
		Env:   append(p.environAt(p.cache, tmp), p.home.gitEnv()...),
		Done:  func() proc.Findings { _ = made.Close(); _ = os.RemoveAll(tmp); return proc.Findings{} },
	}, nil
}

// opened returns the command's own folder and the folders that the user opens for writing, without
// those that would open the workspace or that a rule protects.
func (p *plan) opened(shown []string) []string {
	return slices.DeleteFunc(append(slices.Clone(shown), p.own()...), func(path string) bool {
		return isWithin(p.workspace.path, path) || isWithin(path, p.workspace.path) ||
			slices.ContainsFunc(p.still, func(kept string) bool { return isWithin(kept, path) || isWithin(path, kept) })
	})
}

// lacksOfLandlock lists gaps closed by newer kernels.
func lacksOfLandlock() (out []string) {
	abi := namespace.ABI()
	for _, right := range []struct {
		abi   int
		lacks string
	}{{5, "ioctl(2) on devices (Linux 6.10)"}, {6, "abstract sockets and signals to other processes (Linux 6.12)"}} {
		if abi < right.abi {
			out = append(out, fmt.Sprintf("Landlock of this kernel (ABI %d) does not restrict %s", abi, right.lacks))
		}
	}
	return out
}

// others lists the files and folders below dir that are not hidden, as close to dir as possible:
// Landlock's rules can only allow. A link needs no right, only its target.
func others(dir string, hidden []string) (out []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0, slices.Contains(hidden, path):
		case slices.ContainsFunc(hidden, func(h string) bool { return isWithin(h, path) }):
			out = append(out, others(path, hidden)...)
		default:
			out = append(out, path)
		}
	}
	return out
}

func rulesOf(hidden, read, write []string) (*os.File, error) {
	var shown []string
	for _, path := range read {
		if slices.ContainsFunc(hidden, func(h string) bool { return h != path && isWithin(h, path) }) {
			shown = append(shown, others(path, hidden)...)
		} else {
			shown = append(shown, path)
		}
	}
	rules := namespace.Rules{Read: slices.Concat(others("/", hidden), shown, []string{"/dev/random", "/dev/urandom", namespace.Self}), Write: write}
	fd, err := rules.Make()
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "rules of a command"), nil
}
