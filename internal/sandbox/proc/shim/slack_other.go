//go:build unix && !linux

package shim

// Slack has no counterpart here.
type Slack uintptr

// Those of Linux.
const (
	Usual   Slack = 0
	Patient Slack = 0
)

// SetSlack does nothing.
func SetSlack(from, to Slack) {}
