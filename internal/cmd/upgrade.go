package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// ReleaseURL is the address of this program's release. The release build sets it at link time; it
// is empty in a build from source.
var ReleaseURL string

// upgradeCommand returns adze doctor upgrade. It prints instructions and changes nothing: a program
// that a model can start must not replace itself.
func upgradeCommand(e *Env) *cobra.Command {
	return &cobra.Command{Use: "upgrade", Annotations: CallableByTools(), Short: "Tell how to get a newer version", Args: RangeArgs(0, 0), Example: "  adze doctor upgrade", RunE: func(c *cobra.Command, _ []string) error {
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

// UpgradeOf returns instructions to get a newer program, by its path (with slashes) and its release
// address.
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

// VersionFlag adds --version to the program. Cobra's own flag uses a template, and with templates
// the linker keeps every method.
func VersionFlag(root *cobra.Command) {
	root.InitDefaultHelpFlag() // help comes first
	root.Flags().BoolP("version", "v", false, "version for "+root.Name())
}

// AsksVersion reports whether --version is set.
func AsksVersion(c *cobra.Command) bool {
	asked, err := c.Flags().GetBool("version")
	return err == nil && asked
}

// versionCommand returns adze version, for users who try it before --version.
func versionCommand(e *Env) *cobra.Command {
	return &cobra.Command{Use: "version", Annotations: CallableByTools(), Short: "Show the version", Args: RangeArgs(0, 0), Example: "  adze version", RunE: func(*cobra.Command, []string) error {
		e.Show("adze %s\n", e.Version)
		return nil
	}}
}
