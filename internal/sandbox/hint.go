package sandbox

import (
	"os"
	"strconv"
	"strings"
	"unicode"
)

// restrictFile says that programs without a profile of AppArmor get namespaces without rights, as
// on Ubuntu from 23.10 on.
const restrictFile = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

// Hint is what a user can do where a report is not full.
func Hint(r Report) string {
	data, _ := os.ReadFile(restrictFile)
	exe, _ := os.Executable()
	return hint(r, strings.TrimSpace(string(data)) == "1", switchedOff(), exe)
}

// switchedOff is the setting of the kernel that lets this user make no namespaces, as sysctl(8)
// sets it. It is empty where none does.
func switchedOff() string {
	for setting, on := range map[string]string{"user.max_user_namespaces": "15000", "kernel.unprivileged_userns_clone": "1"} {
		data, _ := os.ReadFile("/proc/sys/" + strings.ReplaceAll(setting, ".", "/"))
		if strings.TrimSpace(string(data)) == "0" {
			return setting + "=" + on
		}
	}
	return ""
}

// profileFile is where the profile of adze is kept, also by its package.
const profileFile = "/etc/apparmor.d/adze"

// Profile is a profile of AppArmor that lets a program make namespaces and restricts it in nothing
// else.
func Profile(program string) string {
	return `# Lets adze make user namespaces, which it keeps commands in.
abi <abi/4.0>,
include <tunables/global>

profile adze "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "^", `\^`).Replace(program) + `" flags=(unconfined) {
  userns,
  include if exists <local/adze>
}
`
}

func hint(r Report, restricted bool, off, exe string) string {
	switch {
	case r.Level == Full:
		return ""
	case r.How == "" || strings.Contains(r.How, "there is none for this system"):
		return "allow only what you would run yourself, or work in a virtual machine"
	case off != "":
		return "let adze make namespaces: sudo sysctl -w " + off
	case restricted:
		// One program is let through. The setting for all programs is better left as it is.
		return "let adze make namespaces: " + legible(exe) + " doctor --apparmor | sudo tee " + profileFile + " | sudo apparmor_parser -r"
	case strings.Contains(r.How, "/proc: operation not permitted"):
		return "this is a container that hides parts of /proc: start it so that it does not (docker run --security-opt systempaths=unconfined), or let it be the sandbox"
	}
	return "allow only what you would run yourself, or work in a virtual machine"
}

// legible is a name that came from a command, in one line.
func legible(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		name = strconv.Quote(name)
	}
	const most = 200
	if r := []rune(name); len(r) > most {
		return "…" + string(r[len(r)-most:])
	}
	return name
}
