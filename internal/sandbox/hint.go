package sandbox

import (
	"os"
	"strconv"
	"strings"
	"unicode"
)

// restrictFile holds the kernel setting that gives programs without an AppArmor profile namespaces
// without rights, as on Ubuntu since 23.10.
const restrictFile = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

// Hint returns advice for the user if a report is not full.
func Hint(r Report) string {
	data, _ := os.ReadFile(restrictFile)
	exe, _ := os.Executable()
	return hint(r, strings.TrimSpace(string(data)) == "1", switchedOff(), exe)
}

// switchedOff returns the sysctl(8) setting that forbids this user namespaces, or "".
func switchedOff() string {
	for setting, on := range map[string]string{"user.max_user_namespaces": "15000", "kernel.unprivileged_userns_clone": "1"} {
		data, _ := os.ReadFile("/proc/sys/" + strings.ReplaceAll(setting, ".", "/"))
		if strings.TrimSpace(string(data)) == "0" {
			return setting + "=" + on
		}
	}
	return ""
}

// profileFile is the path of adze's AppArmor profile; adze's own package uses it too.
const profileFile = "/etc/apparmor.d/adze"

// Profile returns an AppArmor profile that allows a program namespaces and restricts nothing else.
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
	case r.Explanation == "" || strings.Contains(r.Explanation, "there is none for this system"):
		return "allow only what you would run yourself, or work in a virtual machine"
	case off != "":
		return "let adze make namespaces: sudo sysctl -w " + off
	case restricted:
		// Only one program gets the right; the setting for all programs stays as it is.
		return "let adze make namespaces: " + legible(exe) + " doctor --apparmor | sudo tee " + profileFile + " | sudo apparmor_parser -r"
	case strings.Contains(r.Explanation, "/proc: operation not permitted"):
		return "this is a container that hides parts of /proc: start it so that it does not (docker run --security-opt systempaths=unconfined), or let it be the sandbox"
	}
	return "allow only what you would run yourself, or work in a virtual machine"
}

// legible returns a name from a command on one line.
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
