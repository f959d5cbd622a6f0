package config

// Undo says what is kept of the workspace's files, so that what calls did to them can be undone.
type Undo struct {
	// Off keeps nothing.
	Off bool `json:"off,omitempty"`
	// TotalMB bounds what is kept of a workspace, in MiB; if 0, the default of package undo.
	TotalMB int `json:"total_mb,omitempty"`
}
