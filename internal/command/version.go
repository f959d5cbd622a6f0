package command

import "github.com/spf13/cobra"

// versionCommand is adze version, which people try before --version.
func (a *all) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Show the version", Args: Takes(0, 0), RunE: func(c *cobra.Command, _ []string) error {
		a.Show("adze %s\n", c.Root().Version)
		return nil
	}}
}
