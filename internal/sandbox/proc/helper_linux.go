package proc

import (
	"errors"
	"os"
	"slices"
	"syscall"
)

// StartHelper starts this program as a helper selected by a hidden first word. It has no
// environment and no streams, and files from descriptor 3 on. The caller ends it.
func StartHelper(words []string, sys *syscall.SysProcAttr, files ...*os.File) (*os.Process, error) {
	none, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	p, err := os.StartProcess(selfPath(), slices.Concat([]string{"adze"}, words), &os.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=2"}, Files: slices.Concat([]*os.File{none, none, none}, files), Sys: sys,
	})
	return p, errors.Join(err, none.Close())
}
