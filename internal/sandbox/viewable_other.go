//go:build unix && !linux

package sandbox

func unviewable([]string, bool) string { return "this system has no views of folders" }
