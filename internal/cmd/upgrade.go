package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// ReleaseURL is the address that this program was released at. It is empty in a build from source;
// a release sets it when it is linked.
var ReleaseURL string

// upgradeCommand is adze doctor upgrade. It tells how, and neither fetches nor changes anything: a
// program that a model can start must not replace itself.
func upgradeCommand(e *Env) *cobra.Command {
	return &cobra.Command{Use: "upgrade", Annotations: Anyone(), Short: "Tell how to get a newer version", Args: Takes(0, 0), Example: "  adze doctor upgrade", RunE: func(c *cobra.Command, _ []string) error {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		if to, err := filepath.EvalSymlinks(program); err == nil {
			program = to
		}
		e.Show("adze %s is %s\n%s\n", e.Version, program, UpgradeOf(filepath.ToSlash(program), ReleaseURL))
		return nil
	}}
}

// UpgradeOf returns what the user does to get a newer program, by the place where this one stands,
// with slashes, and the address that it was released at.
func UpgradeOf(program, url string) string {
	parts := strings.Split(strings.ToLower(program), "/")
	has := func(name string) bool { return slices.Contains(parts, name) }
	switch {
	case has("cellar"):
		return "Homebrew installed it: brew upgrade adze"
	case has("scoop"):
		return "Scoop installed it: scoop update adze"
	case strings.HasPrefix(program, "/nix/store/"):
		return "Nix installed it: update the input that it comes from"
	case url == "":
		return "It was built from source: git pull, then go build -o adze . in its checkout"
	case strings.HasPrefix(program, "/usr/bin/"):
		return "A package installed it: get the new deb, rpm or apk from " + url + " and install it with apt, dnf or apk"
	case has("adze.exe"):
		return "Run install.ps1 of the new version again; this version came from " + url
	}
	prefix := strings.TrimSuffix(program, "/bin/adze")
	if prefix == program {
		return "Put the program of the new archive in its place; this version came from " + url
	}
	return "Run install.sh of the new version again: sh install.sh --prefix '" + prefix + "'; this version came from " + url
}

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
