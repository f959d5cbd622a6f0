package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
)

// findBubblewrap is the installed bubblewrap. One that is set-user-id, or that somebody but root
// could have put there, is none: the sandbox would be as good as that program.
func findBubblewrap() (string, error) {
	for _, path := range bwrapPaths() {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case info.Mode()&fs.ModeSetuid != 0:
			return "", errors.New(path + " is set-user-id; adze uses only one that is not")
		case !ok || st.Uid != 0 || info.Mode().Perm()&0o022 != 0:
			return "", errors.New(path + " can be changed by others than root")
		}
		return path, nil
	}
	return "", errors.New("bubblewrap is not installed")
}

// apart are the namespaces that bubblewrap makes; the shim is the first process in them.
func apart() []string {
	return []string{"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--die-with-parent", "--as-pid-1"}
}

// byBubblewrap lets bubblewrap make the namespaces, where the kernel lets that program alone, and
// the shim the mounts, as in its own: bubblewrap reads the list of all mounts anew for each that it
// makes, so that forty take seven milliseconds. The shim gets there by a descriptor, because its
// file may lie where nothing is.
func byBubblewrap(p plan) (proc.Walls, error) {
	argv := apart()
	for _, right := range []string{"CAP_SETPCAP", "CAP_NET_ADMIN", "CAP_SYS_PTRACE", "CAP_SYS_ADMIN", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID"} {
		argv = append(argv, "--cap-add", right)
	}
	b := namespace.Box{Own: true, Mounts: p.mounts(), Filter: namespace.OwnNet, Memory: p.memory, Processes: p.processes}
	return p.throughBubblewrap(b, append(argv, "--dev-bind", "/", "/"))
}

// byBubblewrapAlone lets it make the mounts too, and the shim check them: where a profile of
// AppArmor takes all rights from what bubblewrap starts.
func byBubblewrapAlone(p plan) (proc.Walls, error) {
	mounts := p.mounts()
	args, err := argumentsFile(bubblewrapArguments(mounts))
	if err != nil {
		return proc.Walls{}, err
	}
	b := namespace.Box{Mounts: mounts, Filter: namespace.OwnNet, Memory: p.memory, Processes: p.processes}
	return p.throughBubblewrap(b, []string{"--args", strconv.Itoa(proc.FirstFile + 1)}, args)
}

func (p plan) throughBubblewrap(b namespace.Box, arguments []string, files ...*os.File) (proc.Walls, error) {
	done := func() proc.Findings {
		for _, f := range files {
			_ = f.Close()
		}
		return proc.Findings{}
	}
	path, err := findBubblewrap()
	if err == nil {
		err = os.MkdirAll(p.cache, 0o700)
	}
	if err != nil {
		done()
		return proc.Walls{}, err
	}
	exe, err := os.Open("/proc/self/exe")
	if err != nil {
		done()
		return proc.Walls{}, err
	}
	b.Blind = p.blind
	files = append([]*os.File{exe}, files...)
	argv := append(append([]string{path}, arguments...), "--", "/proc/self/fd/"+strconv.Itoa(proc.FirstFile))
	return proc.Walls{Box: b, Argv: argv, Files: files, Env: p.environ(), Dir: p.ownInside(), PIDs: true, Done: done}, nil
}

// bubblewrapArguments says the same as the mounts, in bubblewrap's words.
func bubblewrapArguments(mounts []namespace.Mount) []string {
	out, last := append(apart(), "--ro-bind", "/", "/"), []string(nil)
	for _, m := range mounts {
		switch m.Kind {
		case namespace.Proc:
			out = append(out, "--proc", m.Path)
		case namespace.Devices:
			out = append(out, "--dev", m.Path)
		case namespace.Private:
			mode := "0755"
			if strings.HasSuffix(m.Path, "/tmp") || strings.HasSuffix(m.Path, "/shm") {
				mode = "1777"
			}
			out = append(out, "--perms", mode, "--size", strconv.FormatUint(m.Size, 10), "--tmpfs", m.Path)
			if m.Path == "/dev/shm" {
				out = append(out, "--remount-ro", "/dev") // it has no bound
			}
		case namespace.Hollow:
			out, last = append(out, "--perms", "0755", "--tmpfs", m.Path), append(last, "--remount-ro", m.Path)
		case namespace.Link:
			out = append(out, "--symlink", m.From, m.Path)
		case namespace.Kept:
			out = append(out, "--ro-bind", m.From, m.Path)
		case namespace.Writable:
			out = append(out, "--bind", m.From, m.Path)
		case namespace.Same:
			out = append(out, "--bind", m.Path, m.Path)
		case namespace.Locked:
			if m.Path == "/proc" { // its own, not the host's
				out = append(out, "--remount-ro", m.Path)
				continue
			}
			out = append(out, "--ro-bind", m.Path, m.Path)
		case namespace.Empty:
			if info, err := os.Lstat(m.Path); err == nil && !info.IsDir() {
				out = append(out, "--ro-bind", "/dev/null", m.Path)
			} else if err == nil {
				out = append(out, "--perms", "0555", "--tmpfs", m.Path, "--remount-ro", m.Path)
			}
		}
	}
	return append(out, last...)
}

// argumentsFile passes arguments by a descriptor: a command line is everybody's to read, and
// bounded.
func argumentsFile(args []string) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	data := strings.Join(args, "\x00") + "\x00"
	if len(data) > pipeSize {
		return nil, errors.Join(fmt.Errorf("%w: too many places to protect", ErrUnsuitable), r.Close(), w.Close())
	}
	_, err = w.WriteString(data)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// pipeSize is what a pipe holds without a reader (pipe(7)).
const pipeSize = 64 << 10
