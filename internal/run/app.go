// Package run is the program: it reads flags and configuration, connects all parts, runs the
// interface, a headless run or a subcommand, and returns an exit code.
//
// The one rule: this is the only package that knows all others; only main imports it.
//
// A run is built in stages, each in its own package. A flags.Request is the input, a
// process.Process the environment. settings.Read is the first stage; conversation.Build creates the
// parts, with guard and servers, and the session.
//
// Start reading at Main, then run.go (one run from flags to exit code).
//
// File names:
//
//	program*       operations for the commands
//	interactive_*  the interface, across sessions
//	tmux_*_test    the program in a real terminal
//
// Known limits: a run's cost excludes the repair model and the model that selects tools.
package run

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/cmd/mcp"
	"adze/internal/config/keyring"
	"adze/internal/config/paths"
	"adze/internal/llm/credentials"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/sandbox/proc"
	"adze/internal/stream"
	"adze/internal/telemetry/trace"
)

// Version is the program's version.
var Version = process.Version

// Main runs adze with the arguments after its name and returns the exit code.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	process.MakeRoom(false)
	proc.Conceal()
	ring := credentials.Take()
	ring.TakeHeaders(trace.HeaderVariables())
	a := newApp(args, ring, stdin, stdout, stderr)
	ring.Use(keyring.Open(paths.FromEnv(ring.Get).Keys, keyring.OfSystem(ring.Get, func() {
		fmt.Fprintln(a.Notes, "! waiting for the key ring; it may ask you to unlock it")
	})))
	return a.main(args)
}

// app is the program for its user and its commands.
type app struct{ *process.Process }

func newApp(args []string, ring *credentials.Ring, stdin, stdout, stderr *os.File) *app {
	return &app{process.New(args, cmd.Env{In: stdin, Out: stdout, Err: stderr}, ring)}
}

// CommandLine returns all commands and flags, for documentation. The commands must not be run.
func CommandLine() *cobra.Command {
	return commandLine(newApp(nil, credentials.Take(), os.Stdin, os.Stdout, os.Stderr))
}

func (a *app) main(args []string) (exit int) {
	root := commandLine(a)
	root.SetArgs(flags.ResumeAlone(args))
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	defer func() { a.Operators.Close(a.Err) }()
	if err := root.ExecuteContext(context.Background()); err != nil {
		return a.refuse(args, err)
	}
	return a.Exit
}

// refuse reports an error from before a run. With a JSON format, it still prints one result.
func (a *app) refuse(args []string, err error) int {
	p := &stream.Printer{Out: a.Out, Err: a.Err, Format: formatIn(args), Mask: a.Ring.Mask}
	return p.Finish(process.Failure(err))
}

// formatIn returns the requested output format, even if the arguments do not parse.
func formatIn(args []string) stream.Format {
	for i, arg := range args {
		value, ok := strings.CutPrefix(arg, "--output-format=")
		if arg == "--output-format" && i+1 < len(args) {
			value, ok = args[i+1], true
		}
		if f, err := stream.ParseFormat(value); ok && err == nil {
			return f
		}
	}
	return stream.Text
}

// ServeTools serves this folder's tools to other programs.
func (a *app) ServeTools(wish mcp.Serve) error { return serveTools(a.Process, wish) }
