package policyconfig

import (
	"context"

	"adze/internal/files/git"
)

// repositories looks at git repositories for the policy. Each look is bounded by git's own time.
type repositories struct {
	env  func() []string // of git; made where a command is judged
	root string
}

func (r repositories) git() git.Git { return git.Git{Env: r.env()} }

func (r repositories) Strays(dir string) ([]string, error) {
	return r.git().Strays(context.Background(), dir, r.root)
}

func (r repositories) Hooks(dir string) []string { return r.git().Hooks(context.Background(), dir) }
