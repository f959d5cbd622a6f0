package config

// Worktree configures git worktrees created by adze.
type Worktree struct {
	Copy []string `json:"copy,omitempty"` // patterns, as in .gitignore, for untracked files to copy into a new one
}
