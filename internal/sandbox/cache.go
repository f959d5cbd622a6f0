package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/whole"
)

// What the self-test found is kept in a file of the state folder, under a key of all that it depends on.

type remembered struct {
	Key    string `json:"key"`
	Report Report `json:"report"`
}

func levelFile(state string) string { return filepath.Join(state, "sandbox", "level.json") }

// recall is the report of an earlier run on this machine as it is.
func recall(state string) (Report, bool) {
	data, err := os.ReadFile(levelFile(state))
	if err != nil {
		return Report{}, false
	}
	var r remembered
	if json.Unmarshal(data, &r) != nil || r.Key == "" || r.Key != machineKey() {
		return Report{}, false
	}
	return r.Report, true
}

// remember keeps a report. Where that fails the next run tests again.
func remember(state string, r Report) {
	data, err := json.Marshal(remembered{machineKey(), r})
	if err != nil {
		return
	}
	path := levelFile(state)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	_ = whole.WriteCache(path, data)
}

// machineKey is all that the answer depends on: the kernel and its boot, who asks, what Ubuntu allows to user namespaces,
// bubblewrap, and this program.
func machineKey() string {
	parts := []string{fmt.Sprint("uid ", os.Geteuid())}
	for _, file := range []string{"/proc/sys/kernel/osrelease", "/proc/sys/kernel/random/boot_id", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
		"/proc/sys/user/max_user_namespaces", "/proc/self/uid_map"} {
		data, _ := os.ReadFile(file)
		parts = append(parts, strings.Join(strings.Fields(string(data)), " "))
	}
	programs := []string{"/usr/bin/bwrap", "/usr/bin/sandbox-exec"}
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
