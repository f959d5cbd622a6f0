package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
	"adze/internal/sandbox/visibility"
)

// byLandlock restricts the command where it is, in the namespaces of everybody. Landlock can have
// no read-only place in a writable folder, so a workspace that could be written would leave the
// hooks of git and the settings of editors open. Therefore the command reads the workspace, and
// writes only a folder for its temporary files, the private caches and what the user shows for
// writing. It makes no sockets, and sets no modes, owners or times, which Landlock has no rules
// for.
func byLandlock(p plan) (proc.Walls, error) {
	if namespace.ABI() < 3 {
		return proc.Walls{}, errors.New("this kernel has no Landlock, or one that cannot hold truncation (Linux 6.2 can)")
	}
	tmp, err := p.tmp.take(p.glance, p.cache)
	if err != nil {
		return proc.Walls{}, err
	}
	hidden := slices.Concat(p.secrets, p.veiled, p.hidden, p.home.hollow, p.home.files, p.home.veiled, []string{"/tmp", "/var/tmp", "/dev", "/run/user"})
	write := []string{p.cache, "/dev/null", "/dev/zero", "/dev/full"}
	for _, path := range []string{"/dev/tty", "/dev/ptmx", "/dev/pts"} {
		if p.glance.Mark(path).Err == nil {
			write = append(write, path)
		}
	}
	read, opened := p.home.reach()
	write = append(write, p.opened(opened)...)
	for _, root := range append([]string{p.workspace.path}, p.grants...) {
		if slices.ContainsFunc(hidden, func(h string) bool { return within(h, root) }) {
			read = append(read, others(p.glance, root, hidden, visibility.Marks{})...)
		} else {
			read = append(read, root)
		}
	}
	made, err := p.rules.of(p.glance, hidden, read, write)
	if err != nil {
		p.tmp.giveBack(tmp)
		return proc.Walls{}, err
	}
	return proc.Walls{
		Box:   namespace.Box{Rules: namespace.Rules{Write: write, Made: proc.FirstFile}, Filter: namespace.NoSockets, Memory: p.memory, Processes: p.processes},
		Files: []*os.File{made},
		Env:   append(p.environAt(p.cache, tmp), p.home.gitEnv()...),
		Done:  func() proc.Findings { _ = made.Close(); p.tmp.giveBack(tmp); return proc.Findings{} },
	}, nil
}

// opened are the folders that the user shows for writing and the command's own, without those that
// would open the workspace, and what a rule keeps as it is.
func (p *plan) opened(shown []string) []string {
	return slices.DeleteFunc(append(slices.Clone(shown), p.own()...), func(path string) bool {
		return within(p.workspace.path, path) || within(path, p.workspace.path) ||
			slices.ContainsFunc(p.still, func(kept string) bool { return within(kept, path) || within(path, kept) })
	})
}

// lacksOfLandlock says what newer kernels could hold.
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

// others are the files and folders below dir that are not hidden, named as near to dir as that
// goes: rules allow, they cannot forbid. A link needs no right; where it leads does. The folders
// that it reads are noted with their times of change.
func others(g *visibility.Glance, dir string, hidden []string, noted visibility.Marks) (out []string) {
	noted[dir] = g.Mark(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0, slices.Contains(hidden, path):
		case slices.ContainsFunc(hidden, func(h string) bool { return within(h, path) }):
			out = append(out, others(g, path, hidden, noted)...)
		default:
			out = append(out, path)
		}
	}
	return out
}

// of opens the rules for one command.
func (r *ruleset) of(g *visibility.Glance, hidden, read, write []string) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.holds(g, hidden, read, write) {
		if err := r.make(g, hidden, read, write); err != nil {
			return nil, err
		}
	}
	fd, err := syscall.Dup(int(r.file.Fd()))
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "rules of a command"), nil
}

// holds goes by the folders that the rules were made of, and what may be written. That a file
// system was mounted somewhere is not seen in a folder; it can be read when the rules are made
// anew.
func (r *ruleset) holds(g *visibility.Glance, hidden, read, write []string) bool {
	return r.file != nil && slices.Equal(r.hidden, hidden) && slices.Equal(r.read, read) && slices.Equal(r.write, write) && slices.Equal(r.objects, objects(g, write)) &&
		g.Same(r.folders, r.made)
}

func (r *ruleset) make(g *visibility.Glance, hidden, read, write []string) error {
	folders := visibility.Marks{}
	var shown []string
	for _, path := range read {
		if slices.ContainsFunc(hidden, func(h string) bool { return h != path && within(h, path) }) {
			shown = append(shown, others(g, path, hidden, folders)...)
		} else {
			shown = append(shown, path)
		}
	}
	rules := namespace.Rules{Read: slices.Concat(others(g, "/", hidden, folders), shown, []string{"/dev/random", "/dev/urandom", namespace.Self}), Write: write}
	fd, err := rules.Make()
	if err != nil {
		return err
	}
	r.close()
	r.file, r.hidden, r.read, r.write, r.objects = os.NewFile(uintptr(fd), "rules"), slices.Clone(hidden), slices.Clone(read), slices.Clone(write), objects(g, write)
	r.folders, r.made = folders, g.Now()
	return nil
}

// objects are the files and folders themselves that paths name.
func objects(g *visibility.Glance, paths []string) []visibility.Mark {
	out := make([]visibility.Mark, len(paths))
	for i, path := range paths {
		m := g.Mark(path)
		out[i] = visibility.Mark{Dev: m.Dev, Ino: m.Ino}
	}
	return out
}
