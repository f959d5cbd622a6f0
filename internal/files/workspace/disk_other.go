//go:build unix && !linux

package workspace

import "os"

const searchOnly = 0

func renameNew(dir int, from, to string) error { return lookAndRename(dir, from, to) }

func kernelCopy(dst, src int, off, n int64) (int64, error) { return 0, nil }

func madeUp(fd int) bool { return false }

// dirOf fails: this system has no staging.
func dirOf(*os.File) (Dir, error) { return nil, ErrUnstaged }

func byDescriptor(f *os.File) string { return f.Name() }
