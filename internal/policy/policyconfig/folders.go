package policyconfig

import (
	"io/fs"
	"os"
	"path/filepath"
)

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
