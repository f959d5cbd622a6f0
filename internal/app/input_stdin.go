package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// maxInput bounds what is read from stdin; more would not fit any model.
const maxInput = 10 << 20

// stdinPatience is how long a pipe beside a prompt may stay silent. Who starts adze from a program often leaves stdin
// open without a thought, and a run must not wait for that for ever; a command that is piped in takes a moment to speak.
const stdinPatience = 3 * time.Second

// piped reads stdin to its end, unless it is a terminal or another device. A pipe that stays silent is left when there
// is a prompt beside it and nobody asked for stdin by "-". ctx ends every wait.
func (a *app) piped(ctx context.Context, beside, asked bool) (string, error) {
	info, err := a.in.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 && !asked {
		return "", nil // no stdin at all is as good as an empty one
	}
	if info.IsDir() {
		return "", misuse("pipe text in, or leave stdin alone", "stdin is a directory")
	}
	var patience <-chan time.Time // nil: for ever
	if beside && !asked && !info.Mode().IsRegular() {
		patience = a.timer(stdinPatience)
	}
	spoken, done := make(chan struct{}), make(chan input, 1)
	go readInput(a.in, spoken, done)
	select {
	case <-patience:
		select {
		case <-spoken:
		default:
			fmt.Fprintf(a.err, "! nothing came from stdin for %s: it is left. Give - beside the prompt to wait for it, or </dev/null not to\n", stdinPatience)
			return "", nil
		}
	case <-spoken:
	case <-ctx.Done():
	}
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case r := <-done:
		return r.text()
	}
}

// timer tells when a time is over.
func (a *app) timer(d time.Duration) <-chan time.Time {
	if a.after != nil {
		return a.after(d)
	}
	return time.After(d)
}

// input is what was read, to its end or to a failure.
type input struct {
	raw []byte
	err error
}

// readInput closes spoken when the first byte or the end has come.
func readInput(from io.Reader, spoken chan<- struct{}, done chan<- input) {
	in := bufio.NewReader(io.LimitReader(from, maxInput+1))
	_, _ = in.Peek(1) // what is wrong is met again below
	close(spoken)
	raw, err := io.ReadAll(in)
	done <- input{raw, err}
}

func (i input) text() (string, error) {
	if i.err != nil {
		return "", fmt.Errorf("read stdin: %w", i.err)
	}
	if len(i.raw) > maxInput {
		return "", misuse("put it in a file and name the file in the prompt", "stdin is longer than %d MiB", maxInput>>20)
	}
	return string(i.raw), nil
}
