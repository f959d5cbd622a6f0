package policyconfig

import (
	"context"
	"sync"

	"adze/internal/files/git"
	"adze/internal/policy"
)

// repositories examines git repositories for the policy, within git's own time limit.
type repositories struct {
	env  func() []string // git's environment, made on use
	root string
	// version asks git once.
	version func() []int
}

func newRepositories(env func() []string, root string) repositories {
	return repositories{env, root, sync.OnceValue(func() []int { return git.Git{Env: env()}.Version(context.Background(), root) })}
}

func (r repositories) GitVersion() []int { return r.version() }

func (r repositories) git() git.Git { return git.Git{Env: r.env()} }

func (r repositories) ExternalPaths(dir string) ([]string, error) {
	return r.git().ExternalPaths(context.Background(), dir, r.root)
}

func (r repositories) Hooks(dir string) (hooks []policy.Hook) {
	for _, h := range r.git().Hooks(context.Background(), dir) {
		hooks = append(hooks, policy.Hook(h))
	}
	return hooks
}
