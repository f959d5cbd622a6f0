package programs

import (
	"slices"
	"strings"
)

// GitCall is a git that may do more than look, as its words say.
type GitCall struct {
	Sub     string   // the subcommand; if empty, it is not known
	Dirs    []string // of -C, one after another
	rest    []string // the words behind the subcommand
	without bool     // its hooks are to be left out
}

// GitOf reads the words behind git, of which one that is not known is empty.
func GitOf(words []string) (g GitCall) {
	for i := 0; i < len(words); i++ {
		switch {
		case oneOf(words[i], "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env", "--attr-source"):
			if i++; words[i-1] == "-C" && i < len(words) {
				g.Dirs = append(g.Dirs, words[i])
			}
		case strings.HasPrefix(words[i], "-"):
		default:
			g.Sub = words[i]
			rest := words[i+1:]
			g.rest = rest
			g.without = g.NoVerify() && slices.Contains(rest, "--no-verify") || g.Sub == "commit" && slices.Contains(rest, "-n")
			return g
		}
	}
	return g
}

// NoVerify reports a subcommand that takes --no-verify.
func (g GitCall) NoVerify() bool {
	return oneOf(g.Sub, "commit", "merge", "push", "rebase", "pull", "am")
}

// Runs reports whether it may run a hook; githooks(5) says which subcommand does. One that is not
// known may run any, since a user's own name for a command may stand for it. With --no-verify it is
// to run none.
func (g GitCall) Runs(hook string) bool {
	by := ""
	switch hook {
	case "update", "pre-receive", "post-receive", "post-update", "proc-receive", "push-to-checkout":
		return false // of the repository that is pushed to
	case "pre-commit":
		by = "commit merge"
	case "commit-msg", "prepare-commit-msg", "post-commit":
		by = "commit merge cherry-pick revert rebase pull am"
	case "pre-merge-commit", "post-merge":
		by = "merge pull"
	case "pre-rebase":
		by = "rebase pull"
	case "post-rewrite":
		by = "commit rebase pull"
	case "post-checkout":
		by = "checkout switch clone worktree rebase pull bisect stash submodule"
	case "pre-push":
		by = "push"
	case "applypatch-msg", "pre-applypatch", "post-applypatch":
		by = "am rebase pull"
	case "sendemail-validate":
		by = "send-email"
	case "pre-auto-gc":
		by = "gc maintenance am commit fetch merge pull rebase"
	case "reference-transaction", "post-index-change", "fsmonitor-watchman":
		return !g.without
	default:
		return strings.HasPrefix(hook, "p4-") && g.Sub == "p4" || g.Sub == "hook"
	}
	return !g.without && (slices.Contains(strings.Fields(by), g.Sub) || !slices.Contains(strings.Fields(plainGit), g.Sub))
}

// plainGit are the subcommands of git: all that people use, with and without hooks.
const plainGit = "add am apply archive bisect blame branch bundle cat-file check-ignore checkout cherry cherry-pick clean clone commit config describe diff " +
	"difftool fetch for-each-ref format-patch fsck gc grep help init log ls-files ls-remote ls-tree maintenance merge merge-base mergetool mv notes p4 prune " +
	"pull push range-diff rebase reflog remote repack reset restore rev-list rev-parse revert rm send-email shortlog show show-ref sparse-checkout stash " +
	"status submodule switch symbolic-ref tag update-index update-ref version whatchanged worktree write-tree lfs annotate name-rev count-objects"
