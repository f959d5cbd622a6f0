package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"adze/internal/proc"
	"adze/internal/proc/shim/box"
	"adze/internal/sandbox/sight"
)

// byLandlock restricts the command where it is, in the namespaces of everybody. It holds less than the others: there is
// no read-only place in a writable folder, no network of its own (so there is none at all), and files outside can still
// be looked at and have their modes changed.
func byLandlock(p plan) (proc.Walls, error) {
	if box.ABI() < 3 {
		return proc.Walls{}, errors.New("this kernel has no Landlock, or one that cannot hold truncation (Linux 6.2 can)")
	}
	tmp, err := p.tmp.take(p.glance, p.cache)
	if err != nil {
		return proc.Walls{}, err
	}
	hidden := append(slices.Clone(p.secrets), "/tmp", "/var/tmp", "/dev", "/run/user")
	write := append([]string{p.workspace.path, p.cache}, p.grants...)
	write = append(write, "/dev/null", "/dev/zero", "/dev/full")
	for _, path := range []string{"/dev/tty", "/dev/ptmx", "/dev/pts"} {
		if p.glance.Mark(path).Err == nil {
			write = append(write, path)
		}
	}
	made, err := p.rules.of(p.glance, hidden, write)
	if err != nil {
		p.tmp.giveBack(tmp)
		return proc.Walls{}, err
	}
	rules := box.Rules{Write: write, Made: proc.FirstFile}
	return proc.Walls{
		Box:   box.Box{Rules: rules, Filter: box.LocalOnly, Blind: p.blind, Memory: p.memory, Processes: p.processes},
		Files: []*os.File{made},
		Env:   p.environAt(p.cache, tmp),
		Done:  func() proc.Findings { _ = made.Close(); p.tmp.giveBack(tmp); return proc.Findings{} },
	}, nil
}

// others are the files and folders below dir that are not hidden, named as near to dir as that goes: rules allow, they
// cannot forbid. A link needs no right; where it leads does. The folders that it reads are noted with their times of change.
func others(g *sight.Glance, dir string, hidden []string, noted sight.Marks) (out []string) {
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
func (r *ruleset) of(g *sight.Glance, hidden, write []string) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.holds(g, hidden, write) {
		if err := r.make(g, hidden, write); err != nil {
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

// holds goes by the folders that the rules were made of, and what may be written. That a file system was mounted somewhere
// is not seen in a folder; it can be read when the rules are made anew.
func (r *ruleset) holds(g *sight.Glance, hidden, write []string) bool {
	return r.file != nil && slices.Equal(r.hidden, hidden) && slices.Equal(r.write, write) && slices.Equal(r.objects, objects(g, write)) &&
		g.Same(r.folders, r.made)
}

func (r *ruleset) make(g *sight.Glance, hidden, write []string) error {
	folders := sight.Marks{}
	rules := box.Rules{Read: append(others(g, "/", hidden, folders), "/dev/random", "/dev/urandom", box.Self), Write: write}
	fd, err := rules.Make()
	if err != nil {
		return err
	}
	r.close()
	r.file, r.hidden, r.write, r.objects = os.NewFile(uintptr(fd), "rules"), slices.Clone(hidden), slices.Clone(write), objects(g, write)
	r.folders, r.made = folders, g.Now()
	return nil
}

// objects are the files and folders themselves that paths name.
func objects(g *sight.Glance, paths []string) []sight.Mark {
	out := make([]sight.Mark, len(paths))
	for i, path := range paths {
		m := g.Mark(path)
		out[i] = sight.Mark{Dev: m.Dev, Ino: m.Ino}
	}
	return out
}
