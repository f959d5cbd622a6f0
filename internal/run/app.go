// Package run is the program: flags and configuration in, everything wired, then the interface, a
// headless run or a subcommand, and an exit code out.
//
// The one rule: this is the only package that knows all others; nothing imports it but main.
//
// A run is built in stages, each in a package of its own. A flags.Request is what is asked for, and
// a process.Process what there is before it. settings.Read makes the first stage.
// conversation.Build makes the parts, with guard and servers, and the session.
//
// Start reading at Main, then run.go (one run from flags to exit code).
//
// File names tell what they serve:
//
//	program*       what the commands ask of the program
//	interactive_*  the interface, from one sitting to the next
//	tmux_*_test    the program in a real terminal
//
// Known limits: what a repair model or a model that chooses tools costs is not in a run's cost.
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

// Version is that of the program.
var Version = process.Version

// Main runs adze with the arguments after its name and returns the exit code.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	process.MakeRoom(false)
	proc.Conceal()
	ring := credentials.Take()
	ring.TakeHeaders(trace.HeaderVariables())
	a := newApp(args, ring, stdin, stdout, stderr)
	ring.Use(keyring.Open(paths.Of(ring.Get).Keys, keyring.OfSystem(ring.Get, func() {
		fmt.Fprintln(a.Notes, "! waiting for the key ring; it may ask you to unlock it")
	})))
	return a.main(args)
}

// app is the program as the user starts it, and as its commands ask for it.
type app struct{ *process.Process }

func newApp(args []string, ring *credentials.Ring, stdin, stdout, stderr *os.File) *app {
	return &app{process.New(args, cmd.Env{In: stdin, Out: stdout, Err: stderr}, ring)}
}

// CommandLine returns all commands and flags, for a program that documents them. None may be run.
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

// refuse reports an error that came before a run could begin. A script that asked for JSON gets its
// one result all the same.
func (a *app) refuse(args []string, err error) int {
	p := &stream.Printer{Out: a.Out, Err: a.Err, Format: formatIn(args), Mask: a.Ring.Mask}
	return p.Finish(process.Failure(err))
}

// formatIn finds the output format that the arguments ask for although they did not parse.
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

// ServeTools offers the tools of this folder to programs of others.
func (a *app) ServeTools(wish mcp.Serve) error { return serveTools(a.Process, wish) }
