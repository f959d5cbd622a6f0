//go:build unix

package sandbox

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

type host struct {
	private []string // private and empty for each command
	kept    []string // needed by programs, below private folders
	// steers reports whether this process is root. Root controls the whole machine through files in
	// /proc, whatever rights it has given up (fs/proc/proc_sysctl.c).
	steers  bool
	scratch uint64 // bytes per private folder
	memory  uint64 // bytes of the machine; 0 if unknown
}

// of reads the machine's state again for each command, because its secret folders can change. It
// keeps the memory size.
func (last host) of() host {
	h := host{memory: last.memory}
	h.scratch = 2 << 30
	if h.memory > 0 {
		h.scratch = min(h.scratch, h.memory/8)
	}
	for _, path := range []string{"/tmp", "/var/tmp", "/run"} {
		if real, ok := realOf(path); ok && !slices.Contains(h.private, real) && real != "/" {
			h.private = append(h.private, real)
		}
	}
	if real, ok := realOf("/etc/resolv.conf"); ok && slices.ContainsFunc(h.private, func(dir string) bool { return isWithin(real, dir) }) {
		h.kept = append(h.kept, real)
	}
	h.steers = os.Geteuid() == 0
	return h
}

// bounds returns the limits for all processes of one command, memory in bytes.
func (h host) bounds(o Options) (memory, processes uint64) {
	memory = cmp.Or(o.Memory, h.memory/2)
	return memory, cmp.Or(o.Processes, 4096)
}

// hidden lists paths outside homes that no command may read: adze's own files and root's existing
// secrets.
func (h host) hidden(o Options) []string {
	var out []string
	add := func(path string) {
		real, ok := realOf(path)
		if !ok || real == "/" {
			return
		}
		if slices.ContainsFunc(out, func(dir string) bool { return isWithin(real, dir) }) ||
			slices.ContainsFunc(h.private, func(dir string) bool { return isWithin(real, dir) && !isWithin(o.Workspace, dir) }) {
			return
		}
		out = slices.DeleteFunc(out, func(inner string) bool { return isWithin(inner, real) })
		out = append(out, real)
	}
	for _, path := range o.OwnPaths {
		add(path)
	}
	if os.Geteuid() == 0 {
		for _, path := range rootSecrets() {
			add(path)
		}
	}
	return out
}

// rootSecrets lists files readable by root alone, in case adze runs as root.
func rootSecrets() []string {
	paths := []string{"/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/ssl/private", "/etc/sudoers", "/etc/sudoers.d", "/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet"}
	keys, _ := filepath.Glob("/etc/ssh/ssh_host_*_key") // the pattern is valid
	return append(paths, keys...)
}

// readKernel returns a kernel file's content, or "" on errors. It makes half the system calls of
// package os, which also asks for the file's size and whether it may block.
func readKernel(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	buf := make([]byte, 0, 16<<10)
	for {
		n, err := unix.Read(fd, buf[len(buf):cap(buf)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return ""
		case n <= 0:
			return string(buf)
		default:
			buf = slices.Grow(buf[:len(buf)+n], 4<<10)
		}
	}
}

// machineMemory returns the machine's memory in bytes, or 0 if unknown.
func machineMemory() uint64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "MemTotal:")
	line, _, _ := strings.Cut(rest, "\n")
	kib, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(line, " kB")), 10, 64)
	return kib << 10
}
