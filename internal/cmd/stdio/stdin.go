// Package stdio examines a process's standard streams: a prompt piped into stdin, and a stdout
// closed at start.
//
// The one rule: a wait for a pipe is endless only if the user asked for it, and always ends with
// its context.
//
// Start reading at Stdin.Prompt and at ClosedAtStart.
//
// Known limits: only on Linux is a closed stdout distinguished from one redirected to the null
// device.
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

// Stdin is the source for the rest of a prompt.
type Stdin struct {
	In    *os.File
	Err   io.Writer                            // for messages about ignored input
	After func(time.Duration) <-chan time.Time // nil for time.After
}

// Prompt joins the command line's words with piped input. asked reports whether "-" was given.
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

// maxInput limits stdin; more would not fit any model.
const maxInput = 10 << 20

// stdinPatience is the longest silence of a pipe beside a prompt. Programs often leave the stdin of
// adze open by accident, and a run must not wait forever; a command in a pipe needs a moment to
// start.
const stdinPatience = 3 * time.Second

// piped reads stdin to its end, unless it is a terminal or another device. It abandons a silent
// pipe if there is a prompt and no "-". ctx ends every wait.
func (s Stdin) piped(ctx context.Context, beside, asked bool) (string, error) {
	info, err := s.In.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 && !asked {
		return "", nil // a missing stdin counts as empty
	}
	if info.IsDir() {
		return "", usage.Mistake("pipe text in, or leave stdin alone", "stdin is a directory")
	}
	var patience <-chan time.Time // nil waits forever
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

func (s Stdin) timer(d time.Duration) <-chan time.Time {
	if s.After != nil {
		return s.After(d)
	}
	return time.After(d)
}

// input is the data read, to the end or an error.
type input struct {
	raw []byte
	err error
}

// readInput closes spoken at the first byte or the end.
func readInput(from io.Reader, spoken chan<- struct{}, done chan<- input) {
	in := bufio.NewReader(io.LimitReader(from, maxInput+1))
	_, _ = in.Peek(1) // an error returns below
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
