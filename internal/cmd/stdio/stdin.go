// Package stdio is what a process was started with: the prompt that is piped in, and a stdout that
// was closed.
//
// The one rule: no wait for a user's pipe is endless that nobody asked for, and none outlives its
// context.
//
// Start reading at Stdin.Prompt and at ClosedAtStart.
//
// Known limits: only on Linux a stdout that was closed is told from one that leads nowhere on
// purpose.
package stdio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"adze/internal/text"
	"adze/internal/text/usage"
)

// Stdin is where the rest of a prompt may come from.
type Stdin struct {
	In    *os.File
	Err   io.Writer                            // what is left is said here
	After func(time.Duration) <-chan time.Time // if nil, time.After
}

// Prompt joins the words of the command line with what is piped in. asked says that it was asked
// for by "-".
func (s Stdin) Prompt(ctx context.Context, words string, asked bool) (string, error) {
	piped, err := s.piped(ctx, strings.TrimSpace(words) != "", asked)
	if err != nil {
		return "", err
	}
	switch {
	case strings.TrimSpace(words) == "" && strings.TrimSpace(piped) == "":
		return "", usage.Mistake(`adze -p "what to do", or pipe the prompt in`, "there is no prompt")
	case strings.TrimSpace(piped) == "":
		return words, nil
	case strings.TrimSpace(words) == "":
		return piped, nil
	}
	return words + "\n\n<stdin>\n" + strings.TrimSuffix(piped, "\n") + "\n</stdin>", nil
}

// maxInput bounds what is read from stdin; more would not fit any model.
const maxInput = 10 << 20

// stdinPatience is how long a pipe beside a prompt may stay silent. Who starts adze from a program
// often leaves stdin open without a thought, and a run must not wait for that for ever; a command
// that is piped in takes a moment to speak.
const stdinPatience = 3 * time.Second

// piped reads stdin to its end, unless it is a terminal or another device. A pipe that stays silent
// is left when there is a prompt beside it and nobody asked for stdin by "-". ctx ends every wait.
func (s Stdin) piped(ctx context.Context, beside, asked bool) (string, error) {
	info, err := s.In.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 && !asked {
		return "", nil // no stdin at all is as good as an empty one
	}
	if info.IsDir() {
		return "", usage.Mistake("pipe text in, or leave stdin alone", "stdin is a directory")
	}
	var patience <-chan time.Time // if nil, for ever
	if beside && !asked && !info.Mode().IsRegular() {
		patience = s.timer(stdinPatience)
	}
	spoken, done := make(chan struct{}), make(chan input, 1)
	go readInput(s.In, spoken, done)
	select {
	case <-patience:
		select {
		case <-spoken:
		default:
			fmt.Fprintf(s.Err, "! nothing came from stdin for %s: it is left. Give - beside the prompt to wait for it, or </dev/null not to\n", stdinPatience)
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
func (s Stdin) timer(d time.Duration) <-chan time.Time {
	if s.After != nil {
		return s.After(d)
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
		return "", usage.Mistake("put it in a file and name the file in the prompt", "stdin is longer than %d MiB", maxInput>>20)
	}
	if kind := text.Sniff(i.raw); kind.Image() || kind.PDF() {
		return "", usage.Mistake("save it and name the file: --attach FILE", "stdin is not text: %s", kind.Name)
	}
	return text.Plain(i.raw), nil
}
