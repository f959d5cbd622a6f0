package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/config/paths"
	"adze/internal/sandbox/proc"
	"adze/internal/text/usage"
)

// Free reports whether a command runs also below a call of adze, and whether it is known at all.
// The others change what adze may do or what it keeps: rules, consents, servers, keys, stored
// sessions, states of files. They are the user's alone, and so is a command that stands in neither
// list. path is without the program's name; that of a run is empty.
func Free(path string) (free, known bool) {
	switch path {
	case "", // a run, whose interface asks ByUser before it keeps anything
		"acp", "acp login", "batch", "serve", "worker", // runs, too
		"audit", "audit show", "audit stats", "audit verify", "completion", "completion bash", "completion fish", "completion powershell",
		"completion zsh", "context", "doctor", "help", "keys", "mcp", "mcp get", "mcp list", "mcp logs", "mcp serve", "mcp test", "models",
		"permission", "permission list", "permission test", "permission why", "pick", "runs", "runs cancel", "runs follow", "runs limit",
		"runs list", "runs retry", "runs show", "runs stats", "runs workers", "session", "session backup", "session export", "session follow",
		"session fork", "session list", "session search", "session show", "session verify", "session why", "tools", "tools list", "tools run",
		"tools schema", "tools show", "tools test", "trust", "trust list", "trust show", "upgrade", "version", "worktree", "worktree clean",
		"worktree list", "worktree remove",
		cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
		return true, true
	case "login", "logout", "mcp accept", "mcp add", "mcp disable", "mcp enable", "mcp import", "mcp login", "mcp logout", "mcp remove", "permission add", "permission remove",
		"redo", "runs delete", "session delete", "session import", "session rename", "session repair", "session tag", "trust allow", "trust revoke", "undo":
		return false, true
	}
	return isTopic(path), isTopic(path)
}

// Path is a command as Free knows it.
func Path(c *cobra.Command) string {
	_, path, _ := strings.Cut(c.CommandPath(), " ")
	return path
}

// ByUser returns an error where this process was started by a call of adze, at any level of the
// sandbox and in any mode. what names the change that is refused.
func ByUser(at paths.Places, what string) error {
	why := proc.NewLedger(at.Jobs()).Inside()
	if why == "" {
		return nil
	}
	return usage.Mistake("the user does it in a terminal of their own; after a crash of adze, start adze once first",
		"%s is the user's alone, and this process was started by a call of adze: %s", what, why)
}
