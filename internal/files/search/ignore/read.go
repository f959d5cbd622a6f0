package ignore

import (
	"io"
	"os"
	"syscall"
)

// readFile returns a regular file's first bytes, or nil. A FIFO does not block it.
func readFile(path string) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxFile))
	if err != nil {
		return nil
	}
	return text
}

// readInTree is readFile for a file inside the tree: like git, it does not follow links.
func readInTree(path string) []byte {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return readFile(path)
}
