//go:build !linux

package proc

// awaitingKeys finds nothing: only Linux tells what a process reads from.
func awaitingKeys(int) (pid int, program string) { return 0, "" }
