package config

// Undo configures snapshots of the workspace's files for undoing tool calls.
type Undo struct {
	// Disabled disables snapshots.
	Disabled bool `json:"off,omitempty"`
}
