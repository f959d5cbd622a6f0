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

// Rights that the shim needs in its own namespaces to make the mounts, to bring the loopback
// interface up and to give up rights; as ambient ones they last beyond its start (capabilities(7)).
const (
	capSetpcap   = 8
	capNetAdmin  = 12
	capSysPtrace = 19 // to copy descriptors of programs that keep others out of their memory (ssh-agent)
	capSysAdmin  = 21
	// Rights that the kernel needs to work in the upper folder of a view: it acts there as who made
	// the mount. They reach only what belongs to this user anyway.
	capChown       = 0
	capDACOverride = 1
	capFowner      = 3
	capFsetid      = 4
	capLast        = 40 // CAP_CHECKPOINT_RESTORE, of Linux 5.9
)

// byNamespaces starts the shim in namespaces of its own, where it is the first process: with it
// everything ends.
//
// It is started as vfork(2) does. For a user namespace package syscall would copy the memory map of
// adze first, so that it can write who is who before the program begins, which costs more than all
// that the sandbox does. Here the program has begun and waits to be told what to build when that is
// written: by adze where it is root, else by the program.
func byNamespaces(p plan) (proc.Walls, error) {
	if err := os.MkdirAll(p.cache, 0o700); err != nil {
		return proc.Walls{}, err
	}
	sys := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_VM | syscall.CLONE_VFORK,
		AmbientCaps: []uintptr{capSetpcap, capNetAdmin, capSysPtrace, capSysAdmin},
	}
	b := namespace.Box{Own: true, Mounts: p.mounts(), Filter: namespace.OwnNet, Memory: p.memory, Processes: p.processes}
	walls := proc.Walls{Sys: sys, Env: p.environ(), Dir: p.ownInside(), PIDs: true, Files: p.trees}
	if os.Geteuid() == 0 {
		// Root may map everybody, so that the owners of files are told as they are, and has all
		// rights there, as the shim of a root that nobody knows would not.
		walls.Born = mapEverybody
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

// mapEverybody maps all ids of this namespace to themselves in that of a process
// (user_namespaces(7)).
func mapEverybody(pid int) error {
	for _, name := range []string{"uid_map", "gid_map"} {
		if err := writeOnce("/proc/"+strconv.Itoa(pid)+"/"+name, identityMap("/proc/self/"+name)); err != nil {
			return err
		}
	}
	return nil
}

// writeOnce writes to a file of the kernel, which takes the whole in one call.
func writeOnce(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// identityMap maps all ids that this namespace has to themselves.
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
