package cmd

import (
	"github.com/spf13/cobra"

	"adze/internal/config/paths"
	"adze/internal/sandbox/proc"
	"adze/internal/text/usage"
)

// anyone is the annotation of a command that runs below a call of adze, too.
const anyone = "anyone"

// Anyone is the annotation of a command that may run below a call of adze, because it changes
// neither what adze may do (rules, consents, servers, keys) nor what it keeps (stored sessions,
// states of files). A command without it is the user's alone.
func Anyone() map[string]string { return map[string]string{anyone: "true"} }

// Free reports whether a command may run below a call of adze. A run may, whose interface asks
// ByUser before it keeps anything, and so may completion, which only prints.
func Free(c *cobra.Command) bool {
	return c.Annotations[anyone] != "" || !c.HasParent() || c.Name() == cobra.ShellCompRequestCmd || c.Name() == cobra.ShellCompNoDescRequestCmd
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
