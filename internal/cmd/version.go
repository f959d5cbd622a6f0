package cmd

import "github.com/spf13/cobra"

// VersionFlag adds --version to the program. The one that cobra adds by itself takes a template for
// its line, and with templates the linker keeps every method of the program.
func VersionFlag(root *cobra.Command) {
	root.InitDefaultHelpFlag() // stands before it
	root.Flags().BoolP("version", "v", false, "version for "+root.Name())
}

// AsksVersion reports that a command line asks for nothing but the version.
func AsksVersion(c *cobra.Command) bool {
	asked, err := c.Flags().GetBool("version")
	return err == nil && asked
}

// versionCommand is adze version, which people try before --version.
func versionCommand(e *Env) *cobra.Command {
	return &cobra.Command{Use: "version", Annotations: Anyone(), Short: "Show the version", Args: Takes(0, 0), Example: "  adze version", RunE: func(*cobra.Command, []string) error {
		e.Show("adze %s\n", e.Version)
		return nil
	}}
}
