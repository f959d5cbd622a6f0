package sandbox

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
)

// Capabilities that the shim needs in its own namespaces for mounts, for bringing up the loopback
// interface and for giving up rights. As ambient ones they survive its start (capabilities(7)).
const (
	capSetpcap   = 8
	capNetAdmin  = 12
	capSysPtrace = 19 // to copy descriptors of programs that protect their memory (ssh-agent)
	capSysAdmin  = 21
	// Capabilities for work in a view's upper folder, where the kernel acts as the mount's creator.
	// They reach only this user's own files anyway.
	capChown       = 0
	capDACOverride = 1
	capFowner      = 3
	capFsetid      = 4
	capLast        = 40 // CAP_CHECKPOINT_RESTORE, of Linux 5.9
)

// byNamespaces starts the shim in namespaces of its own as the first process, so everything ends
// with it.
//
// It starts the shim as vfork(2) does. For a user namespace, package syscall would first copy
// adze's memory map to write the id mappings before the program begins, which costs more than the
// rest of the sandbox. Instead the program starts and waits for its plan until the mappings are
// written: by adze if it is root, else by the program.
func byNamespaces(p plan) (proc.Confinement, error) {
	if err := os.MkdirAll(p.cache, 0o700); err != nil {
		return proc.Confinement{}, err
	}
	sys := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_VM | syscall.CLONE_VFORK,
		AmbientCaps: []uintptr{capSetpcap, capNetAdmin, capSysPtrace, capSysAdmin},
	}
	b := namespace.Box{NewNamespaces: true, Mounts: p.mounts(), Filter: namespace.OwnNet, Memory: p.memory, Processes: p.processes}
	walls := proc.Confinement{Sys: sys, Env: p.environ(), Dir: p.ownInside(), PIDs: true, Files: p.trees}
	if os.Geteuid() == 0 {
		// Root maps all ids, so that files show their true owners, and has all rights there, unlike
		// a shim with an unmapped root.
		walls.OnStart = mapEverybody
		sys.AmbientCaps = nil
		for c := range uintptr(capLast + 1) {
			sys.AmbientCaps = append(sys.AmbientCaps, c)
		}
	} else {
		if p.view != nil {
			sys.AmbientCaps = append(sys.AmbientCaps, capChown, capDACOverride, capFowner, capFsetid)
		}
		b.IDs = namespace.IDs{Set: true, UID: os.Geteuid(), GID: os.Getegid()}
	}
	walls.Box = b
	return walls, nil
}

// mapEverybody maps all ids of this namespace to themselves in the namespace of pid
// (user_namespaces(7)).
func mapEverybody(pid int) error {
	for _, name := range []string{"uid_map", "gid_map"} {
		if err := writeOnce("/proc/"+strconv.Itoa(pid)+"/"+name, identityMap("/proc/self/"+name)); err != nil {
			return err
		}
	}
	return nil
}

// writeOnce writes a kernel file, which accepts its content in a single call only.
func writeOnce(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// identityMap maps all ids of this namespace to themselves.
func identityMap(file string) string {
	data, _ := os.ReadFile(file)
	out := ""
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 3 {
			out += f[0] + " " + f[0] + " " + f[2] + "\n"
		}
	}
	return out
}
