package run

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	cli "adze/internal/cmd"
	"adze/internal/cmd/batch"
	"adze/internal/cmd/mcp"
	"adze/internal/cmd/sessions"
	"adze/internal/cmd/undo"
	worktreeCmd "adze/internal/cmd/worktree"
	"adze/internal/run/flags"
	"adze/internal/stream"
	"adze/internal/text/usage"
)

const examples = `  adze                                    work in this folder
  adze "why does the build fail?"         with a first prompt
  adze -p "add a test for Parse"          no terminal: print the answer
  git diff | adze -p "review this"        the prompt from both
  slow | adze -p "review this" -          wait for stdin, however long it is silent
  adze -p --output-format stream-json --allow 'execute(go test **)' "fix the tests"
  adze --continue                         go on with the last session of this folder
  adze --worktree fix-parser              work beside other sessions, in a git work tree of its own
  adze -p --continue --accept-plan        carry out the plan that it ended with
  adze --demo --print                     see it work without a key`

// commandLine returns the root command with all flags and subcommands.
func commandLine(a *app) *cobra.Command {
	o := &flags.Request{}
	root := &cobra.Command{
		Use:           "adze [flags] [prompt]",
		Short:         "A coding assistant for the terminal",
		Long:          "A coding assistant for the terminal.\n\nExit codes of --print: " + stream.ExitCodes,
		Example:       examples,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, words []string) error {
			if cli.AsksVersion(c) {
				a.Show("adze %s\n", Version)
				return nil
			}
			if err := cli.Mistyped(c, words); err != nil && !o.Print {
				return err
			}
			o.Stdin = slices.Contains(words, "-")
			words = slices.DeleteFunc(words, func(w string) bool { return w == "-" })
			return a.start(o, strings.Join(words, " "))
		},
	}
	root.SetFlagErrorFunc(cli.FlagError)
	o.Add(root)
	root.Flags().Func("store", "", func(string) error {
		return usage.Mistake("leave it out; adze batch show --session has sessions of workers", "sessions are stored on this machine alone: --store is gone")
	})
	_ = root.Flags().MarkHidden("store") // the flag exists
	cli.VersionFlag(root)
	// After a leading --print, all words are the prompt, so a short run skips creating the
	// subcommands. Help still lists them.
	prompt := len(a.Words) > 0 && (a.Words[0] == "-p" || a.Words[0] == "--print") && !slices.Contains(a.Words, "-h") && !slices.Contains(a.Words, "--help")
	root.CompletionOptions.DisableDefaultCmd = prompt
	if !prompt {
		root.AddCommand(cli.All(&a.Env, a)...)
		root.AddCommand(sessionsCommand(a))
		root.AddCommand(undo.Commands(&a.Env, a)...)
		root.AddCommand(worktreeCmd.Command(&a.Env, a), editorCommand(a), mcp.Command(&a.Env, a), batch.Command(&a.Env, batches{a.Process}))
		root.AddCommand(batch.OldCommands(&a.Env, batches{a.Process})...)
		root.AddCommand(append(formerDevices(), cli.WithSubcommands(serveCommand(a), formerDevices()...))...)
		root.AddCommand(cli.HideOldNames(attachCommand(a), stopCommand(a), sessions.LogsCommand(&a.Env, a))...)
	}
	cli.Strict(root, a.ByUser)
	return root
}
