//go:build !linux

package gctuning

// forgetStart is for Linux alone, which counts the pages of a program's file as the process's.
func forgetStart() {}
