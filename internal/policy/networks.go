package policy

import (
	"slices"
	"strings"

	"adze/internal/policy/programs"
)

// networks says that a command reaches hosts, as its words say, or other programs of this machine
// by a network. In a sandbox without one it would fail, so the user is asked before rather than
// after. Of other commands that is found when they have failed.
func networks(c *command) string {
	for _, s := range c.simples {
		if s.maybe || len(s.words) == 0 {
			continue
		}
		if reachesHosts(texts(s.words)) {
			return quote(s.String()) + " needs a network"
		}
	}
	return ""
}

// reachesHosts reports a program that does its work over a network, with these words.
func reachesHosts(words []string) bool {
	has := func(reports func(string) bool) bool { return slices.ContainsFunc(words[1:], reports) }
	if has(func(w string) bool { return oneOf(w, "--offline --help --version --dry-run") }) {
		return false
	}
	name := base(words[0])
	remote := name == "rsync" && has(func(w string) bool { return !strings.HasPrefix(w, "-") && strings.Contains(w, ":") })
	newest := name == "go" && len(words) > 1 && words[1] == "install" && has(func(w string) bool { return strings.Contains(w, "@") })
	return remote || newest || name == "yarn" && len(words) == 1 || programs.Does("network", words...)
}
