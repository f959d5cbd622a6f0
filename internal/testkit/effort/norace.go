//go:build !race

package effort

// Race reports whether the race detector is enabled, which costs memory and time for each access.
const Race = false
