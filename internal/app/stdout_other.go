//go:build !linux

package app

import "os"

// closedAtStart cannot be known here: the runtime has put /dev/null in its place.
func closedAtStart(stdout *os.File) bool {
	_, err := stdout.Stat()
	return err != nil
}
