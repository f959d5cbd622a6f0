//go:build !windows

package run_test

import "os"

// readsEscapes is asked on Windows only.
func readsEscapes(*os.File) bool { return true }
