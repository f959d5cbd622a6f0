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
		if reachesHosts(base(s.name()), texts(s.words[1:])) {
			return quote(s.String()) + " needs a network"
		}
	}
	return ""
}

// reachesHosts reports a program that does its work over a network, with these arguments.
func reachesHosts(program string, args []string) bool {
	if slices.ContainsFunc(args, func(a string) bool { return oneOf(a, "--offline --help --version --dry-run") }) {
		return false
	}
	first := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			first = a
			break
		}
	}
	switch program {
	case "curl", "wget", "ssh", "scp", "sftp", "ping", "dig", "nslookup", "host", "nc", "ncat", "telnet", "ftp", "gh", "glab", "aws", "gcloud", "az",
		"kubectl", "docker", "podman", "psql", "mysql", "redis-cli", "npx", "pnpx", "bunx", "uvx", "brew":
		return true
	case "git":
		g := programs.GitOf(args)
		return oneOf(g.Sub, "clone fetch pull push ls-remote")
	case "npm", "pnpm", "bun":
		return oneOf(first, "install i ci add update up upgrade audit publish view outdated create init login whoami")
	case "yarn":
		return first == "" || oneOf(first, "install add upgrade up audit publish dlx create npm")
	case "pip", "pip3":
		return oneOf(first, "install download index wheel")
	case "uv", "poetry", "pipenv":
		return oneOf(first, "add sync lock install update publish pip tool")
	case "go":
		return first == "get" || first == "install" && slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "@") }) ||
			first == "mod" && slices.ContainsFunc(args, func(a string) bool { return oneOf(a, "download tidy") })
	case "cargo":
		return oneOf(first, "add fetch install publish search update login")
	case "apt", "apt-get", "dnf", "apk", "pacman", "gem", "bundle", "composer", "dotnet":
		return oneOf(first, "install update upgrade add restore require fetch -S -Syu")
	case "rsync":
		return slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") && strings.Contains(a, ":") })
	}
	return false
}
