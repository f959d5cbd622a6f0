package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

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
	write := append([]string{p.workspace.path, p.cache}, p.grants...)
	write = append(write, "/dev/null", "/dev/zero", "/dev/full")
	for _, path := range []string{"/dev/tty", "/dev/ptmx", "/dev/pts"} {
		if _, err := os.Lstat(path); err == nil {
			write = append(write, path)
		}
	}
	made, err := p.rules.of(hidden, write)
	if err != nil {
		return proc.Walls{}, err
	}
	rules := box.Rules{Write: write, Made: proc.FirstFile}
	return proc.Walls{
		Box:   box.Box{Rules: rules, Filter: box.LocalOnly, Blind: p.blind, Memory: p.memory, Processes: p.processes},
		Files: []*os.File{made},
		Env:   p.environAt(p.cache, tmp),
		Done:  func() proc.Findings { _, _ = made.Close(), os.RemoveAll(tmp); return proc.Findings{} },
	}, nil
}

// others are the files and folders below dir that are not hidden, named as near to dir as that goes: rules allow, they
// cannot forbid. A link needs no right; where it leads does. The folders that it reads are noted with their times of change.
func others(dir string, hidden []string, noted map[string]syscall.Timespec) (out []string) {
	noted[dir], _ = changed(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0, slices.Contains(hidden, path):
		case slices.ContainsFunc(hidden, func(h string) bool { return within(h, path) }):
			out = append(out, others(path, hidden, noted)...)
		default:
			out = append(out, path)
		}
	}
	return out
}

// maxRulesAge bounds how long rules are believed: a file system that is mounted somewhere changes no folder.
const maxRulesAge = 30 * time.Second

// of opens the rules for one command.
func (r *ruleset) of(hidden, write []string) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.holds(hidden, write) {
		if err := r.make(hidden, write); err != nil {
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

func (r *ruleset) holds(hidden, write []string) bool {
	if r.file == nil || time.Since(r.made) > maxRulesAge || !slices.Equal(r.hidden, hidden) || !slices.Equal(r.write, write) {
		return false
	}
	if !slices.Equal(r.inodes, inodes(write)) {
		return false
	}
	for path, was := range r.folders {
		if now, ok := changed(path); !ok || now != was || r.made.Sub(time.Unix(was.Unix())) <= clockStep {
			return false
		}
	}
	return true
}

func (r *ruleset) make(hidden, write []string) error {
	now, folders := time.Now(), map[string]syscall.Timespec{}
	rules := box.Rules{Read: append(others("/", hidden, folders), "/dev/random", "/dev/urandom", box.Self), Write: write}
	fd, err := rules.Make()
	if err != nil {
		return err
	}
	r.close()
	r.file, r.hidden, r.write, r.inodes = os.NewFile(uintptr(fd), "rules"), slices.Clone(hidden), slices.Clone(write), inodes(write)
	r.folders, r.made = folders, now
	return nil
}

// changed is when a folder has last changed.
func changed(path string) (syscall.Timespec, bool) {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return syscall.Timespec{}, false
	}
	return changeTime(&st), true
}

func inodes(paths []string) []uint64 {
	out := make([]uint64, len(paths))
	for i, path := range paths {
		var st syscall.Stat_t
		_ = syscall.Lstat(path, &st) // of what is not there it is 0
		out[i] = st.Ino
	}
	return out
}
