package policy

import (
	"slices"
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
)

// beyondWalls explains why a command would fail in a read-only sandbox without network: by its
// words, or because it runs in the background. Other commands fail harmlessly, because they changed
// nothing.
func beyondWalls(v verdict) string {
	if v.need.OutlivesCall {
		return quote(v.need.Target) + " goes on in the background"
	}
	if why := networks(v.command); why != "" {
		return why
	}
	for _, p := range v.command.top.Parts {
		if p.Redirect != nil && p.Redirect.Writes && !strings.HasPrefix(p.Redirect.Target.Spelled, "/dev/") {
			return "it writes " + quote(p.Redirect.Target.Spelled)
		}
	}
	for _, s := range v.command.simples {
		if !s.maybe && len(s.words) > 0 && changesFiles(script.Texts(s.words)) {
			return quote(s.String()) + " changes files"
		}
	}
	return ""
}

func changesFiles(words []string) bool {
	has := func(reports func(string) bool) bool { return slices.ContainsFunc(words[1:], reports) }
	tee := base(words[0]) == "tee" && has(func(w string) bool { return !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "/dev/") })
	output := base(words[0]) == "go" && has(func(w string) bool { return w == "-o" })
	return tee || output || programs.CommandIs("changes-files", words...) || slices.ContainsFunc(programs.ExtraAccess(words), func(n programs.Access) bool {
		return n.Effect != "runs a program" && slices.Contains(words[1:], n.Option)
	})
}

// networks explains that a command reaches hosts or local services over a network, by its words. It
// would fail in a sandbox without one, so the user is asked before. Other commands are noticed when
// they fail.
func networks(c *command) string {
	for _, s := range c.simples {
		if s.maybe || len(s.words) == 0 {
			continue
		}
		if reachesHosts(script.Texts(s.words)) {
			return quote(s.String()) + " needs a network"
		}
	}
	return ""
}

func reachesHosts(words []string) bool {
	has := func(reports func(string) bool) bool { return slices.ContainsFunc(words[1:], reports) }
	if has(func(w string) bool { return oneOf(w, "--offline --help --version --dry-run") }) {
		return false
	}
	name := base(words[0])
	remote := name == "rsync" && has(func(w string) bool { return !strings.HasPrefix(w, "-") && strings.Contains(w, ":") })
	newest := name == "go" && len(words) > 1 && words[1] == "install" && has(func(w string) bool { return strings.Contains(w, "@") })
	return remote || newest || name == "yarn" && len(words) == 1 || programs.CommandIs("network", words...)
}
