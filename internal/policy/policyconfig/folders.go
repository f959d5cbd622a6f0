package policyconfig

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// folders lets the policy look up patterns, and what lies below a folder that a command reads.
type folders struct{}

func (folders) Names(abs string) ([]string, error) {
	entries, err := os.ReadDir(abs)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (folders) Walk(abs string, visit fs.WalkDirFunc) error { return filepath.WalkDir(abs, visit) }

// mostPinned bounds the files that a grant can be tied to, in bytes.
const mostPinned = 16 << 20

// content reads a file that a grant is tied to.
func content(abs string) ([]byte, error) {
	f, err := os.Open(abs)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > mostPinned:
		return nil, fmt.Errorf("%s is not a file of at most %d bytes", abs, mostPinned)
	}
	return io.ReadAll(io.LimitReader(f, mostPinned))
}
