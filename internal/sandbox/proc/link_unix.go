//go:build unix

package proc

import (
	"bufio"
	"context"
	"os"
	"slices"
	"time"

	"adze/internal/sandbox/proc/shim"
)

type link struct {
	shim             *os.Process
	lifeline, status *os.File
	events           *bufio.Reader
}

// hangUp asks the shim to end everything.
func (l *link) hangUp() { _ = l.lifeline.Close() }

// kill kills the shim itself.
func (l *link) kill() { _ = l.shim.Kill() }

// awaitKilled kills a silent shim and waits. Its orphans are adopted afterwards.
func (l *link) awaitKilled() {
	_ = l.shim.Kill()
	_, _ = l.shim.Wait()
}

func (l *link) supervisorPID() int { return l.shim.Pid }

func (l *link) close() {
	closeAll([]*os.File{l.lifeline, l.status})
	if shim := l.shim; shim != nil {
		go func() { _, _ = shim.Wait() }()
	}
}

// awaitNamespace waits until all processes have ended, if the shim did not report that: a namespace
// ends with its first process, the shim, which ends last.
func (p *Process) awaitNamespace() {
	if p.confinement.PIDs && (p.lost || p.result.Survivors > 0) {
		_ = p.shim.Kill()
		_, _ = p.shim.Wait()
	}
}

// launch starts a shim, sends it the command, records it, and waits for its first event.
func (p *Process) launch(ctx context.Context, spec shim.Spec, ledger *Ledger) error {
	wire, err := spec.Encode()
	if err != nil {
		return &Error{CodeInvalid, err}
	}
	theirs, err := p.openPipes()
	defer closeAll(theirs)
	if err != nil {
		return &Error{CodeIO, err}
	}
	p.started = time.Now()
	if err := p.startShim(theirs); err != nil {
		return err
	}
	closeAll(theirs)
	p.guard(ctx)
	// A write error means that the shim was killed; follow sees the end of the status pipe.
	_, _ = p.lifeline.Write(wire)
	// Recording while the shim starts costs the command no time.
	p.unrecord = ledger.record(p.shim.Pid, p.cmd.Tag)
	return p.firstEvent()
}

func (p *Process) startShim(streams []*os.File) error {
	theirs, err := p.openLine()
	defer closeAll(theirs)
	if err != nil {
		return &Error{CodeIO, err}
	}
	adoptOrphans()
	program, argv := p.confinement.starts([]string{"adze", shim.Word, p.cmd.Tag})
	p.shim, err = os.StartProcess(program, argv, &os.ProcAttr{
		Dir: "/",
		// The shim gets nothing from adze's own environment, because the command may read it in
		// /proc. GOMAXPROCS saves the runtime from reading the control groups; it exceeds the
		// number of threads blocked in system calls, so that a returning one does not wait.
		Env:   []string{"GOMAXPROCS=4"},
		Files: slices.Concat(streams, theirs, p.confinement.Files),
		Sys:   p.confinement.attributes(),
	})
	if err != nil {
		return failure(CodeIO, "cannot start the supervising process: %w", err)
	}
	if p.confinement.OnStart != nil {
		if err := p.confinement.OnStart(p.shim.Pid); err != nil {
			_ = p.shim.Kill()
			return failure(CodeSandbox, "the command was not run, because its sandbox could not be made: %w", err)
		}
	}
	return nil
}

// openPipes makes the command's standard streams and returns the command's ends.
func (p *Process) openPipes() (theirs []*os.File, err error) {
	theirs = make([]*os.File, 3)
	if p.cmd.Input == nil && p.cmd.Talk == nil {
		theirs[0], err = os.Open(os.DevNull)
	} else {
		theirs[0], p.inPipe, err = os.Pipe()
	}
	if err != nil {
		return theirs, err
	}
	if p.outPipe, theirs[1], err = os.Pipe(); err != nil {
		return theirs, err
	}
	theirs[2] = theirs[1]
	if p.cmd.Separate {
		p.errPipe, theirs[2], err = os.Pipe()
	}
	return theirs, err
}

// openLine makes the lifeline and the status pipe and returns the shim's ends in descriptor order.
func (p *Process) openLine() (theirs []*os.File, err error) {
	theirs = make([]*os.File, 2)
	if theirs[0], p.lifeline, err = os.Pipe(); err != nil {
		return theirs, err
	}
	p.status, theirs[1], err = os.Pipe()
	p.events = bufio.NewReaderSize(p.status, 256)
	return theirs, err
}
