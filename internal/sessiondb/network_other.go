//go:build !linux

package sessiondb

// onNetwork is unknown here; SQLite's own locking errors then tell.
func onNetwork(string) bool { return false }
