//go:build unix && !linux

package stdio

import "os"

// ClosedAtStart cannot be known here: the runtime has put /dev/null in its place.
func ClosedAtStart(stdout *os.File) bool {
	_, err := stdout.Stat()
	return err != nil
}
