//go:build unix && !linux

package proc

import "os"

// keeps says that shims can wait for further commands here.
const keeps = false

func socketPair() (theirs, ours *os.File, err error) { return os.Pipe() }

func sendFiles(*os.File, []byte, []*os.File) (sent int) { return 0 }
