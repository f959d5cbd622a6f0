package config

// Undo configures snapshots of the workspace's files for undoing tool calls.
type Undo struct {
	// Off disables snapshots.
	Off bool `json:"off,omitempty"`
}
