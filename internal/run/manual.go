package run

import (
	"os"

	"github.com/spf13/cobra"

	"adze/internal/llm/credentials"
)

// CommandLine returns all commands and flags, for a program that documents them. It reads nothing,
// and none of its commands may be run.
func CommandLine() *cobra.Command {
	return commandLine(newApp(nil, credentials.Take(), os.Stdin, os.Stdout, os.Stderr))
}
