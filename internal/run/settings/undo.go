package settings

import (
	"os"
	"time"

	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/files/git"
	"adze/internal/llm/models"
	"adze/internal/project/worktree"
	"adze/internal/run/process"
	"adze/internal/sandbox/proc"
	"adze/internal/undo"
	"adze/internal/undo/recorder"
)

// Undoing returns the undo options for a folder.
func (s *Settings) Undoing(root string) recorder.Options {
	return recorder.Options{Options: undo.Options{
		Root: root, State: recorder.Store(s.At.Undo, root), Home: paths.Absolute(s.Home), Apart: []string{s.At.State},
	}}
}

// TreesOf returns the work tree manager for runs that begin in a folder.
func TreesOf(p *process.Process, cfg config.Config, dir string) worktree.Manager {
	return worktree.Manager{Git: Repositories(cfg, dir), State: paths.Of(p.Getenv).State, Copy: cfg.Worktree.Copy}
}

// Repositories returns git for the user's operations in a folder.
func Repositories(cfg config.Config, dir string) git.Git {
	env := proc.Environ(os.Environ(), proc.EnvPolicy{Allow: cfg.Environment, Secrets: models.KeyNames(cfg)})
	return git.Git{Env: proc.Outside(env, dir), Timeout: checkoutTime}
}

// checkoutTime limits one git process: a checkout of a large tree on a slow disk.
const checkoutTime = 10 * time.Minute
