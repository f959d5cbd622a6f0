//go:build !linux

package sessiondb

// onNetwork cannot detect network file systems here; SQLite's locking errors show them.
func onNetwork(string) bool { return false }
