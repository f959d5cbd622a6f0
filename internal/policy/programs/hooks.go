package programs

import (
	"slices"
	"strings"
)

// GitCall is a git that may do more than look, as its words say.
type GitCall struct {
	Sub  string   // the subcommand; if empty, it is not known
	Dirs []string // of -C, one after another
	rest []string // the words behind the subcommand
}

// GitOf reads the words behind git, of which one that is not known is empty.
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

// NoVerify reports a subcommand that takes --no-verify.
func (g GitCall) NoVerify() bool { return Is("git no-verify", g.Sub) }

// Runs reports whether it may run a hook; githooks(5) says which subcommand does. One that is not
// known may run any, since a user's own name for a command may stand for it. With --no-verify it is
// to run none.
func (g GitCall) Runs(hook string) bool {
	if g.NoVerify() && slices.Contains(g.rest, "--no-verify") || g.Sub == "commit" && slices.Contains(g.rest, "-n") || Is("git hooks elsewhere", hook) {
		return false
	}
	by := kinds()["git hook "+hook]
	switch {
	case by == nil && !Is("git hooks always", hook):
		return strings.HasPrefix(hook, "p4-") && g.Sub == "p4" || g.Sub == "hook"
	case by == nil:
		return true
	}
	return by[g.Sub] || !Is("git subcommands", g.Sub)
}

// Configures reports a git that writes its configuration or makes a repository where one is
// expected, as its words say. A sandbox keeps both as they are, because they name programs that git
// runs later, outside. What it writes besides (the tracking of a branch that it finds under this
// name at a remote) its words do not tell.
func (g GitCall) Configures() bool {
	first, names, configures, looks := "", 0, false, false
	for _, word := range g.rest {
		option := strings.HasPrefix(word, "-")
		if name, _, _ := strings.Cut(word, "="); option {
			configures = configures || Is("git configures "+g.Sub, name)
			looks = looks || Is("git looks "+g.Sub, name)
			continue
		}
		if names++; names == 1 {
			first = word
		}
		remote := strings.HasPrefix(word, "origin/") || strings.HasPrefix(word, "upstream/") // a new branch from there follows it
		configures = configures || remote && slices.ContainsFunc(g.rest, func(w string) bool { return Is("git branches "+g.Sub, w) })
	}
	switch configures = configures || Is("git configures "+g.Sub, first); g.Sub {
	case "init":
		return names == 0 || first == "."
	case "submodule":
		return configures || first == "update" && slices.Contains(g.rest, "--init")
	case "config":
		return !looks && !Is("git looks config", first) && (configures || names > 1)
	}
	return configures
}
