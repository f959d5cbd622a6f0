//go:build !unix

package ignore

import (
	"io"
	"os"
)

// readFile returns the start of a regular file, or nothing.
func readFile(path string) []byte { return readWith(path, os.Stat) }

// readInTree is readFile for a file that the tree brings along: like git, it follows no link.
func readInTree(path string) []byte { return readWith(path, os.Lstat) }

func readWith(path string, stat func(string) (os.FileInfo, error)) []byte {
	info, err := stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxFile))
	if err != nil {
		return nil
	}
	return text
}
