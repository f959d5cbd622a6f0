//go:build unix && !linux

package stdio

import "os"

// ClosedAtStart cannot detect it here: the runtime has opened /dev/null in its place.
func ClosedAtStart(stdout *os.File) bool {
	_, err := stdout.Stat()
	return err != nil
}
