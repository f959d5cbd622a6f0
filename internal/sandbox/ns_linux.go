package sandbox

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"adze/internal/proc"
	"adze/internal/proc/shim/box"
)

// Rights that the shim needs in its own namespaces to make the mounts, to bring the loopback interface up and to give up
// rights; as ambient ones they last beyond its start (capabilities(7)).
const (
	capSetpcap  = 8
	capNetAdmin = 12
	capSysAdmin = 21
)

// byNamespaces starts the shim in namespaces of its own, where it is the first process: with it everything ends.
func byNamespaces(p plan) (proc.Walls, error) {
	if err := os.MkdirAll(p.cache, 0o700); err != nil {
		return proc.Walls{}, err
	}
	sys := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		AmbientCaps: []uintptr{capSetpcap, capNetAdmin, capSysAdmin},
	}
	b := box.Box{Own: true, Mounts: p.mounts(), Filter: box.OwnNet, Blind: p.blind, Memory: p.memory, Processes: p.processes}
	if os.Geteuid() == 0 {
		// Root may map everybody, so that the owners of files are told as they are.
		sys.UidMappings, sys.GidMappings = identityMap("/proc/self/uid_map"), identityMap("/proc/self/gid_map")
		sys.GidMappingsEnableSetgroups = true
	} else {
		b.IDs = box.IDs{Set: true, UID: os.Geteuid(), GID: os.Getegid()}
	}
	return proc.Walls{Box: b, Sys: sys, Env: p.env, PIDs: true}, nil
}

// identityMap maps all ids that this namespace has to themselves.
func identityMap(file string) []syscall.SysProcIDMap {
	data, _ := os.ReadFile(file)
	var out []syscall.SysProcIDMap
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		first, err := strconv.Atoi(f[0])
		size, err2 := strconv.Atoi(f[2])
		if err == nil && err2 == nil {
			out = append(out, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: size})
		}
	}
	return out
}
