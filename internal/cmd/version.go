package cmd

import "github.com/spf13/cobra"

// versionCommand is adze version, which people try before --version.
func versionCommand(e *Env) *cobra.Command {
	return &cobra.Command{Use: "version", Annotations: Anyone(), Short: "Show the version", Args: Takes(0, 0), Example: "  adze version", RunE: func(c *cobra.Command, _ []string) error {
		e.Show("adze %s\n", c.Root().Version)
		return nil
	}}
}
