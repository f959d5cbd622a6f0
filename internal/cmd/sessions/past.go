// Package sessions is adze sessions: what can be done with stored sessions, one file for each
// command, named after it.
//
// The one rule is that of package cmd: a command reads its flags, calls another package and prints
// what that returns. It changes no session by itself.
//
// Start reading at Commands, where the commands are put together.
//
// Known limits: none that are known. The tests of what commands do run the whole program and stand
// in internal/cmd.
package sessions

import (
	"context"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/project/worktree"
	"adze/session"
	"adze/tool"
)

// Program is what these commands ask of the program.
type Program interface {
	cmd.StoreReader
	cmd.StoreWriter
	// Tools makes the tools of this folder, without a model, a session or a gate.
	Tools(context.Context, func(*tool.Set) error) error
	// Merge merges the branch of a session's work tree into the main checkout, or only says what that
	// comes to.
	Merge(ctx context.Context, head session.Head, look bool) (worktree.Merge, error)
	// RemoveTree removes a work tree whose branch is merged, unless it has what nothing else has.
	RemoveTree(ctx context.Context, m worktree.Merge) (worktree.Removal, error)
}

// past is what the commands share.
type past struct {
	*cmd.Env
	Program
}

// Commands are those below adze sessions.
func Commands(e *cmd.Env, program Program, doing func(context.Context, []session.Head) []Activity) []*cobra.Command {
	p := past{e, program}
	now := []*cobra.Command{List(e, program, doing), p.search(), showCommand(p), p.rename(), p.tag(), forkCommand(p), deleteCommand(p), backupCommand(p),
		p.why(), p.evidence(), p.export(), p.importing(),
		p.merge(), followCommand(p), LogsCommand(e, program)}
	return append(now, cmd.Former(formerRepair())...)
}
