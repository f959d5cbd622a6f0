// Package sessions holds the subcommands of adze sessions, one per file.
//
// The one rule is that of package cmd: a command reads its flags, calls another package and prints
// the result. It changes no session itself.
//
// Start reading at Commands, which lists them.
//
// Known limits: none. The tests run the whole program and are in internal/cmd.
package sessions

import (
	"context"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/project/worktree"
	"adze/session"
	"adze/tool"
)

// Program is the interface to the program that these commands use.
type Program interface {
	cmd.StoreReader
	cmd.StoreWriter
	// Tools builds this folder's tools, without a model, session or permission check.
	Tools(context.Context, func(*tool.Set) error) error
	// Merge merges a session's work tree branch into the main checkout, or with look only describes
	// the merge.
	Merge(ctx context.Context, head session.Head, look bool) (worktree.Merge, error)
	// RemoveTree removes a merged work tree, unless it has content that exists nowhere else.
	RemoveTree(ctx context.Context, m worktree.Merge) (worktree.Removal, error)
}

type past struct {
	*cmd.Env
	Program
}

// Commands returns the subcommands of adze sessions.
func Commands(e *cmd.Env, program Program, doing func(context.Context, []session.Head) []Activity) []*cobra.Command {
	p := past{e, program}
	now := []*cobra.Command{List(e, program, doing), p.search(), showCommand(p), p.rename(), p.tag(), forkCommand(p), deleteCommand(p),
		p.why(), p.evidence(), p.export(), p.importing(),
		p.merge(), followCommand(p), LogsCommand(e, program)}
	return append(now, cmd.HideOldNames(formerRepair())...)
}
