//go:build unix

package hostio

import (
	"io"
	"os"
	"sync"
	"syscall"

	"adze/tui/input"
)

// File descriptors for keys in a process started by RunOnTerminal.
const (
	keysIn  = 3
	keysOut = 4
)

// handKeys creates the files for a process that calls Inherited. Beside calls over after that
// process has ended.
func handKeys(keys *input.PendingKeys) (files []*os.File, over func(), err error) {
	hisIn, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, hisOut, err := os.Pipe()
	if err != nil {
		hisIn.Close()
		in.Close()
		return nil, nil, err
	}
	var both sync.WaitGroup
	var back []byte
	typed := keys.Take()
	both.Go(func() {
		_, _ = in.Write(typed) // an ended process reads nothing
		in.Close()
	})
	both.Go(func() { back, _ = io.ReadAll(out) })
	return []*os.File{hisIn, hisOut}, func() {
		hisIn.Close()
		hisOut.Close()
		both.Wait()
		out.Close()
		keys.Give(back)
	}, nil
}

// Hand is the connection to the process that called RunOnTerminal.
type Hand struct{ in, out *os.File }

// Inherited returns this process's connection, if RunOnTerminal started it.
func Inherited(beside bool) Hand {
	if !beside {
		return Hand{}
	}
	var st syscall.Stat_t
	for _, fd := range []int{keysIn, keysOut} {
		if syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return Hand{} // started by another program
		}
		syscall.CloseOnExec(fd)
	}
	return Hand{os.NewFile(keysIn, "keys"), os.NewFile(keysOut, "keys back")}
}

// Read returns the keys typed ahead.
func (h Hand) Read() []byte {
	if h.in == nil {
		return nil
	}
	defer h.in.Close()
	b, _ := io.ReadAll(h.in)
	return b
}

// Write returns unhandled keys, once.
func (h Hand) Write(b []byte) {
	if h.out == nil {
		return
	}
	_, _ = h.out.Write(b)
	h.out.Close()
}
