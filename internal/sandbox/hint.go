package sandbox

import (
	"os"
	"strings"
)

// restrictFile says that programs without a profile of AppArmor get namespaces without rights, as on Ubuntu from 23.10 on.
const restrictFile = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

// Hint is what a person can do where a report is not full.
func Hint(r Report) string {
	data, _ := os.ReadFile(restrictFile)
	exe, _ := os.Executable()
	return hint(r, strings.TrimSpace(string(data)) == "1", exe)
}

func hint(r Report, restricted bool, exe string) string {
	missing := strings.Contains(r.How, "bubblewrap is not installed")
	switch {
	case r.Level == Full:
		return ""
	case r.How == "" || strings.Contains(r.How, "there is none for this system"):
		return "allow only what you would run yourself, or work in a virtual machine"
	case restricted && !missing:
		// One program is let through. The setting for all programs is better left as it is.
		return "let adze make namespaces: write \"abi <abi/4.0>, include <tunables/global> profile adze " + exe +
			" flags=(unconfined) { userns, }\" to /etc/apparmor.d/adze, and run apparmor_parser -r on it"
	case missing:
		return "install bubblewrap, which systems let make namespaces that keep other programs from it"
	case strings.Contains(r.How, "/proc: operation not permitted"):
		return "this is a container that hides parts of /proc: start it so that it does not (docker run --security-opt systempaths=unconfined), or let it be the sandbox"
	}
	return "allow only what you would run yourself, or work in a virtual machine"
}
