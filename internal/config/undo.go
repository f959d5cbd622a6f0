package config

// Undo says what is kept of the workspace's files, so that what calls did to them can be undone.
type Undo struct {
	// Off keeps nothing.
	Off bool `json:"off,omitempty"`
}
