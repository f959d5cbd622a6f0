//go:build !linux

package gctuning

// forgetStart does nothing: only Linux counts the executable's pages as the process's memory.
func forgetStart() {}
