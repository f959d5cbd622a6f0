package policyconfig

import (
	"context"

	"adze/internal/files/git"
)

// repositories looks at git repositories for the policy. Each look is bounded by git's own time.
type repositories struct {
	git  git.Git
	root string
}

func (r repositories) Strays(dir string) ([]string, error) {
	return r.git.Strays(context.Background(), dir, r.root)
}

func (r repositories) Hooks(dir string) []string { return r.git.Hooks(context.Background(), dir) }
