package sessions

import (
	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/text/usage"
)

// formerRepair names the replacement of adze sessions repair.
func formerRepair() *cobra.Command {
	c := &cobra.Command{Use: "repair ID", Annotations: cmd.CallableByTools(), Short: "Former name: adze sessions fork ID --at TURN", Args: cmd.RangeArgs(0, 1),
		RunE: func(*cobra.Command, []string) error {
			return usage.Mistake("adze sessions fork ID --at TURN copies a session up to its last sound turn; adze audit verify ID names what is wrong", "adze sessions repair is gone")
		}}
	c.Flags().Bool("json", false, "gone")
	return c
}
