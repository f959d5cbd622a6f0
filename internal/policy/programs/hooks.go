package programs

import (
	"slices"
	"strings"
)

// GitCall is a git command that may not be read-only.
type GitCall struct {
	Sub  string   // the subcommand; empty if unknown
	Dirs []string // -C folders, applied one after another
	rest []string // words after the subcommand
}

// GitOf parses the words after git; unknown ones are "".
func GitOf(words []string) (g GitCall) {
	for i := 0; i < len(words); i++ {
		switch takes, _ := Globals("git", words[i]); {
		case takes:
			if i++; words[i-1] == "-C" && i < len(words) {
				g.Dirs = append(g.Dirs, words[i])
			}
		case !strings.HasPrefix(words[i], "-"):
			g.Sub, g.rest = words[i], words[i+1:]
			return g
		}
	}
	return g
}

// NoVerify reports whether the subcommand takes --no-verify.
func (g GitCall) NoVerify() bool { return IsKind("git no-verify", g.Sub) }

// Runs reports whether it may run a hook, per githooks(5). An unknown subcommand may run any,
// because it may be an alias. With --no-verify it must run none.
func (g GitCall) Runs(hook string) bool {
	if g.NoVerify() && slices.Contains(g.rest, "--no-verify") || g.Sub == "commit" && slices.Contains(g.rest, "-n") || IsKind("git hooks elsewhere", hook) {
		return false
	}
	by := kinds()["git hook "+hook]
	switch {
	case by == nil && !IsKind("git hooks always", hook):
		return strings.HasPrefix(hook, "p4-") && g.Sub == "p4" || g.Sub == "hook"
	case by == nil:
		return true
	}
	return by[g.Sub] || !IsKind("git subcommands", g.Sub)
}

// Configures reports whether git's words show a configuration write or a new repository. A sandbox
// protects both, because they name programs that git later runs outside. Other configuration
// writes, such as the tracking of a remote branch found by name, do not show in its words.
func (g GitCall) Configures() bool {
	first, names, configures, looks := "", 0, false, false
	for _, word := range g.rest {
		option := strings.HasPrefix(word, "-")
		if name, _, _ := strings.Cut(word, "="); option {
			configures = configures || IsKind("git configures "+g.Sub, name)
			looks = looks || IsKind("git looks "+g.Sub, name)
			continue
		}
		if names++; names == 1 {
			first = word
		}
		remote := strings.HasPrefix(word, "origin/") || strings.HasPrefix(word, "upstream/") // a new branch from there tracks it
		configures = configures || remote && slices.ContainsFunc(g.rest, func(w string) bool { return IsKind("git branches "+g.Sub, w) })
	}
	switch configures = configures || IsKind("git configures "+g.Sub, first); g.Sub {
	case "init":
		return names == 0 || first == "."
	case "submodule":
		return configures || first == "update" && slices.Contains(g.rest, "--init")
	case "config":
		return !looks && !IsKind("git looks config", first) && (configures || names > 1)
	}
	return configures
}
