package programs

import (
	"slices"
	"strings"
)

// Configures reports a git that writes its configuration or makes a repository where one is
// expected, as its words say. A sandbox keeps both as they are, because they name programs that git
// runs later, outside. What it writes besides (the tracking of a branch that it finds under this
// name at a remote) its words do not tell.
func (g GitCall) Configures() bool {
	has := func(options ...string) bool {
		return slices.ContainsFunc(g.rest, func(word string) bool {
			name, _, _ := strings.Cut(word, "=")
			return slices.Contains(options, name)
		})
	}
	first, names := "", g.names()
	if len(names) > 0 {
		first = names[0]
	}
	switch g.Sub {
	case "remote":
		return oneOf(first, "add", "remove", "rm", "rename", "set-url", "set-branches")
	case "branch":
		return has("-u", "--set-upstream-to", "--unset-upstream", "--edit-description", "-m", "-M", "--move", "-t", "--track")
	case "push", "fetch", "pull":
		return has("--set-upstream") || g.Sub == "push" && has("-u")
	case "checkout", "switch":
		return has("-t", "--track") || has("-b", "-B", "-c", "-C") && slices.ContainsFunc(names, remoteBranch)
	case "init":
		return len(names) == 0 || first == "."
	case "submodule":
		return oneOf(first, "add", "init", "deinit", "sync", "set-url", "set-branch") || first == "update" && has("--init")
	case "sparse-checkout":
		return oneOf(first, "set", "init", "disable")
	case "lfs":
		return oneOf(first, "install", "uninstall")
	case "config":
		return g.sets(first, len(names), has)
	}
	return false
}

// names are the words behind the subcommand that are no options.
func (g GitCall) names() (out []string) {
	for _, word := range g.rest {
		if !strings.HasPrefix(word, "-") {
			out = append(out, word)
		}
	}
	return out
}

// remoteBranch reports a branch of a remote by its usual name: a new branch from there follows it.
func remoteBranch(word string) bool {
	return strings.HasPrefix(word, "origin/") || strings.HasPrefix(word, "upstream/")
}

// sets reports a git config that does more than look (git-config(1), its old forms and its new
// ones).
func (g GitCall) sets(first string, names int, has func(...string) bool) bool {
	switch {
	case has("-f", "--file", "--blob"): // a file that is named, and is judged as any other
		return false
	case has("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "-l", "--list"):
		return false
	case oneOf(first, "get", "list"):
		return false
	case has("--add", "--unset", "--unset-all", "--replace-all", "--rename-section", "--remove-section", "-e", "--edit"):
		return true
	case oneOf(first, "set", "unset", "edit", "rename-section", "remove-section"):
		return true
	}
	return names > 1
}
