package claims

import (
	"slices"
	"strings"
)

// mayTest reports a command that may have run tests: any that is not known for something else.
func mayTest(command string) bool {
	return slices.ContainsFunc(simple(command), func(words []string) bool {
		name := words[0]
		if in("looking")[name] || in("calm")[name] && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-exec") }) {
			return false
		}
		return name != "git" && !in("calm " + name)[subcommand(words)]
	})
}

// tests reports a command that is known to run tests, and nothing else.
func isTest(command string) bool {
	all := simple(command)
	if len(all) != 1 || strings.Contains(command, "||") {
		return false
	}
	words := all[0]
	sub := subcommand(words)
	return in("testers")[words[0]] || in("builders")[words[0]] && (sub == "test" || sub == "t")
}

// mayWrite reports a command that may have changed files other than what it is known to write.
func mayWrite(command string) bool {
	if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(command, "2>&1", ""), ">/dev/null", ""), ">") {
		return true
	}
	return slices.ContainsFunc(simple(command), func(words []string) bool {
		if in("looking")[words[0]] || words[0] == "pytest" || words[0] == "sleep" {
			return false
		}
		if words[0] == "sed" && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "--in") }) {
			return false
		}
		return !in("looking " + words[0])[subcommand(words)]
	})
}

// subcommand is the first argument that is no option.
func subcommand(words []string) string {
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			return w
		}
	}
	return ""
}
