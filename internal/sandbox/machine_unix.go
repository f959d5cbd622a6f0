//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// machineKey returns everything that the self-test's result depends on: the kernel, its boot and
// its namespace settings, this process's container and AppArmor profile, the user and their rights,
// adze's own profile, and this program.
func machineKey() string {
	parts := []string{fmt.Sprint("uid ", os.Geteuid(), " gid ", os.Getegid())}
	for _, file := range kernelFiles() {
		data, _ := os.ReadFile(file)
		parts = append(parts, strings.Join(strings.Fields(string(data)), " "))
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		name, _, _ := strings.Cut(line, ":")
		if slices.Contains([]string{"CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters"}, name) {
			parts = append(parts, strings.TrimSpace(line))
		}
	}
	for _, name := range []string{"user", "mnt", "pid", "net"} {
		id, _ := os.Readlink("/proc/self/ns/" + name)
		parts = append(parts, id)
	}
	programs := []string{"/usr/bin/sandbox-exec", profileFile}
	if exe, err := os.Executable(); err == nil {
		programs = append(programs, exe)
	}
	for _, path := range programs {
		info, err := os.Stat(path)
		if err != nil {
			parts = append(parts, "none")
			continue
		}
		_, ino := identity(info)
		parts = append(parts, fmt.Sprint(ino, " ", info.Size(), " ", info.ModTime().UnixNano(), " ", info.Mode()))
	}
	return strings.Join(parts, "\n")
}

func kernelFiles() []string {
	files := []string{"/proc/sys/kernel/osrelease", "/proc/sys/kernel/random/boot_id", restrictFile, "/proc/sys/kernel/unprivileged_userns_clone",
		"/proc/sys/kernel/seccomp/actions_avail", "/proc/self/uid_map", "/proc/self/gid_map", "/proc/self/attr/current"}
	for _, name := range []string{"user", "mnt", "pid", "net", "ipc"} {
		files = append(files, "/proc/sys/user/max_"+name+"_namespaces")
	}
	return files
}
