//go:build unix

package proc

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"adze/internal/sandbox/proc/shim"
)

// firstEvent waits until the shim has started the command or reports an error. If the shim was
// killed, its command may still run, so it counts as started, and follow ends it. A shim whose
// launcher failed has run nothing.
func (p *Process) firstEvent() error {
	_ = p.status.SetReadDeadline(p.started.Add(startTime))
	e, err := p.nextEvent()
	begun := len(p.confinement.Argv) == 0 || p.confinement.Box.Empty() || err == nil
	if err == nil && e.Kind == shim.Begun {
		e, err = p.nextEvent()
	}
	_ = p.status.SetReadDeadline(time.Time{})
	switch {
	case !begun && errors.Is(err, io.EOF):
		return failure(CodeSandbox, "the command was not run, because its sandbox could not be made: %w", noWallsError(p.lastWords()))
	case errors.Is(err, io.EOF) && p.crashed():
		return failure(CodeIO, "cannot start the supervising process, which ended at once: %w", lacking(p.lastWords()))
	case err != nil:
		_ = p.shim.Kill() // it may only be stopped
		return nil
	case e.Kind == shim.Unboxed:
		return failure(CodeSandbox, "the command was not run, because its sandbox could not be made: %w", noWallsError(explain(e)))
	case e.Kind == shim.Failed && errors.Is(e.Errno, syscall.ENOENT):
		return failure(CodeNotFound, "cannot run %s: %w", p.cmd.Argv[0], e.Errno)
	case e.Kind == shim.Failed:
		return failure(CodeIO, "cannot run %s: %w", p.cmd.Argv[0], e.Errno)
	}
	p.pid = e.PID
	return nil
}

// crashed reports whether the shim exited before its first event and has run nothing, as Go's
// runtime does without a thread or memory.
func (p *Process) crashed() bool {
	state, err := p.shim.Wait()
	return err == nil && state.Exited() && state.ExitCode() == crashCode
}

// crashCode is the Go runtime's exit code for a fatal error.
const crashCode = 2

// lacking returns an error for a failed runtime's output.
func lacking(words string) error {
	first, _, _ := strings.Cut(words, "\n")
	if strings.Contains(words, "newosproc") || strings.Contains(words, "new OS thread") {
		return fmt.Errorf("%s: %w", first, syscall.EAGAIN)
	}
	return fmt.Errorf("%s: %w", first, syscall.ENOMEM)
}

// lastWords returns the launcher's error output.
func (p *Process) lastWords() string {
	from := p.errPipe
	if from == nil {
		from = p.outPipe
	}
	_ = from.SetReadDeadline(time.Now().Add(drainTime))
	said, _ := io.ReadAll(io.LimitReader(from, maxLastWords))
	if text := strings.TrimSpace(string(said)); text != "" {
		return text
	}
	return p.confinement.Argv[0] + " ended without a word"
}

// in bytes
const maxLastWords = 4 << 10

func (p *Process) nextEvent() (shim.Event, error) {
	for {
		line, err := p.events.ReadString('\n')
		if err != nil {
			return shim.Event{}, err
		}
		if e, ok := shim.ParseEvent(strings.TrimSuffix(line, "\n")); ok {
			return e, nil
		}
	}
}
