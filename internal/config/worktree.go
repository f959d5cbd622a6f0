package config

// Worktree is about the git work trees that adze makes.
type Worktree struct {
	Copy []string `json:"copy,omitempty"` // patterns, as in .gitignore, of files that git does not know and that a new one gets
}
