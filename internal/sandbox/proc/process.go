package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"adze/internal/sandbox/proc/shim"
)

const (
	// drainTime limits reading after all processes below the shim have ended. Buffered data arrives
	// at once; only a descriptor in a foreign process keeps the pipe open.
	drainTime = 100 * time.Millisecond
	// stuckTime is the time for a shim to end its processes before it is killed itself. Its own
	// limit is 3 s.
	stuckTime = 4 * time.Second
	// startTime limits the command's start, including a slow disk.
	startTime = 10 * time.Second
	// chunkSize is the read size: a Linux pipe's default capacity.
	chunkSize = 64 << 10
	// smallChunk is the first read size: most commands write less in total.
	smallChunk = 2 << 10
)

// Process is a started command.
type Process struct {
	cmd     Command
	pid     int
	started time.Time

	link
	inPipe, outPipe, errPipe *os.File // nil if unused
	confinement              Confinement
	lost                     bool // the shim was killed
	unguard                  func()
	unrecord                 func()

	out, errs *Output
	pulse     *pulse
	spilled   int64
	timer     *time.Timer   // for Command.Timeout; may be nil
	detach    func() bool   // stops watching the start's context
	overdue   chan struct{} // closed at the timeout if Command.outlasts

	reading sync.Mutex // held while a chunk is delivered

	mu     sync.Mutex
	reason Reason
	begun  bool // running
	job    bool // a job; nobody waits for it
	exited bool // exit reported; too late for a kill reason
	ending bool // its end was requested or has come
	stuck  *time.Timer

	done   chan struct{}
	result Result
}

func newProcess(c Command) *Process {
	if c.Head == 0 && c.Tail == 0 {
		c.Head, c.Tail = DefaultHead, DefaultTail
	}
	p := &Process{cmd: c, out: NewOutput(c.Head, c.Tail), done: make(chan struct{}), overdue: make(chan struct{})}
	if c.Talk != nil {
		c.Separate = true
		p.cmd = c
	}
	if c.Separate {
		p.errs = NewOutput(c.Head, c.Tail)
	}
	if c.Progress != nil {
		p.pulse = newPulse(c, p.out)
	}
	return p
}

// PID returns the command's process id. The command leads its own session.
func (p *Process) PID() int { return p.outerPID() }

// Output returns the output so far.
func (p *Process) Output() *Output { return p.out }

// Errors returns standard error so far if it is kept apart, else nil.
func (p *Process) Errors() *Output { return p.errs }

// Done returns a channel that is closed when all processes have ended and Wait will not block.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until all processes have ended and returns the result.
func (p *Process) Wait() Result {
	<-p.done
	return p.result
}

// End requests the end of all processes without waiting. The first reason stays; after the
// command's exit none is recorded.
func (p *Process) End(why Reason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending {
		return
	}
	p.ending = true
	if !p.exited {
		p.reason = why
	}
	p.stuck = time.AfterFunc(stuckTime, p.kill)
	p.hangUp()
}

// guard ends the process at its timeout or when ctx is done. It is active before the command's
// start, which can hang too, for example on a dead network file system.
func (p *Process) guard(ctx context.Context) {
	forget := context.AfterFunc(ctx, func() { p.End(reasonOf(ctx)) })
	if limit := p.cmd.Timeout; limit > 0 {
		if p.cmd.outlasts { // its timeout counts from the start
			limit += startTime
		}
		p.timer = time.AfterFunc(limit, p.timeOver)
	}
	p.detach = forget
	p.unguard = func() {
		forget()
		if p.timer != nil {
			p.timer.Stop()
		}
	}
}

// timeOver ends the command, or signals overdue.
func (p *Process) timeOver() {
	p.mu.Lock()
	outlasts := p.cmd.outlasts && p.begun
	p.mu.Unlock()
	if outlasts {
		close(p.overdue)
		return
	}
	p.End(Timeout)
}

// goOn turns a running command into a job: the start's context no longer ends it, its output is no
// longer delivered, and pending changes are decided without a user. It returns the output so far,
// or false if the command has ended or is ending.
func (p *Process) goOn() (Text, Piece, bool) {
	if !p.detach() {
		return Text{}, Piece{}, false
	}
	p.mu.Lock()
	if p.exited || p.ending {
		p.mu.Unlock()
		return Text{}, Piece{}, false
	}
	p.job = true
	p.mu.Unlock()
	if p.pulse != nil {
		p.pulse.stop()
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	p.cmd.Spill = nil
	text, read := p.out.handOver()
	return text, read, true
}

// follow starts the goroutines for output and status.
func (p *Process) follow() {
	p.mu.Lock()
	p.begun = true
	p.mu.Unlock()
	if p.cmd.outlasts && p.timer != nil && p.timer.Stop() {
		p.timer.Reset(p.cmd.Timeout)
	}
	var readers sync.WaitGroup
	if p.cmd.Talk != nil {
		readers.Go(p.talk)
	} else {
		readers.Go(func() { p.read(p.outPipe, p.out) })
	}
	if p.errPipe != nil {
		readers.Go(func() { p.read(p.errPipe, p.errs) })
	}
	if p.inPipe != nil && p.cmd.Talk == nil {
		go p.feed()
	}
	if p.pulse != nil {
		go p.pulse.run()
	}
	go func() {
		p.awaitEnd()
		p.unguard()
		p.drain(&readers)
		p.finish()
	}()
}

func (p *Process) awaitEnd() {
	p.result.Code = -1
	gone := false
	for {
		e, err := p.nextEvent()
		if err != nil {
			break
		}
		switch e.Kind {
		case shim.Exited:
			p.noteExit(e)
		case shim.Exceeded:
			p.noteExcess(e.Excess)
		case shim.Gone:
			p.result.Ended, p.result.Survivors = e.Ended, e.Survivors
			gone = true
		}
		if gone {
			break
		}
	}
	if !gone {
		p.noteLost()
	}
}

func (p *Process) noteExit(e shim.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exited = true
	p.result.Code, p.result.Signal = e.Code, e.Sig
	p.result.Duration = time.Since(p.started)
}

func (p *Process) noteExcess(much shim.Excess) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == ByItself {
		p.reason = map[shim.Excess]Reason{shim.Memory: TooMuchMemory, shim.Processes: TooManyProcesses}[much]
	}
}

func (p *Process) noteLost() {
	p.mu.Lock()
	if !p.exited && p.reason == ByItself {
		p.reason = Lost
	}
	p.mu.Unlock()
	p.lost = true
	p.awaitKilled()
	p.result.Ended, p.result.Survivors = endLost(p.cmd.Tag)
}

// drain waits for the readers, which end with the last writer.
func (p *Process) drain(readers *sync.WaitGroup) {
	last := time.Now().Add(drainTime)
	for _, f := range []*os.File{p.outPipe, p.errPipe} {
		if f != nil {
			_ = f.SetReadDeadline(last)
		}
	}
	readers.Wait()
}

// finish completes the result and releases everything.
func (p *Process) finish() {
	p.mu.Lock()
	p.exited, p.ending = true, true
	p.result.Killed = p.reason
	if p.stuck != nil {
		p.stuck.Stop()
	}
	job := p.job
	p.mu.Unlock()
	if p.result.Duration == 0 {
		p.result.Duration = time.Since(p.started)
	}
	p.result.Output = p.out.Text()
	p.awaitNamespace()
	barred, hidden := p.explain() // before the walls are removed
	p.result.Sandbox, p.result.Findings = p.confinement.Name, p.letGo()
	if aside := p.result.Pending; job && aside != nil {
		p.result.decided(aside.Apply(nil))
	}
	p.result.Hidden = hidden
	p.result.Refused = append(barred, p.result.Refused...)
	for _, b := range p.result.Refused {
		p.result.Deny(b)
	}
	if p.errs != nil {
		p.result.Errors = p.errs.Text()
	}
	if p.pulse != nil && !job {
		p.pulse.stop()
	}
	// The shim has sent its last event and holds nothing, so its exit is not awaited.
	p.discard()
	close(p.done)
}

// read reads a stream and does nothing else: timers run elsewhere.
func (p *Process) read(from *os.File, to *Output) {
	buf := make([]byte, smallChunk)
	put := func(b []byte) { p.take(b, to) }
	if p.cmd.Mask != nil {
		mask := p.cmd.Mask()
		put = func(b []byte) { p.take([]byte(mask.Write(string(b))), to) }
		defer func() { p.take([]byte(mask.End()), to) }()
	}
	for {
		n, err := from.Read(buf)
		put(buf[:n])
		switch {
		case err == io.EOF:
			return
		case err != nil:
			left(from, put) // the deadline passed, not the end of the stream, on a busy machine
			return
		case n == len(buf) && n < chunkSize:
			buf = make([]byte, chunkSize)
		}
	}
}

func (p *Process) take(chunk []byte, to *Output) {
	if len(chunk) == 0 {
		return // held back until more arrives
	}
	p.reading.Lock()
	total := to.add(chunk)
	if to == p.out && p.cmd.Spill != nil {
		p.spill(chunk)
	}
	p.reading.Unlock()
	if to == p.errs && p.cmd.Errors != nil {
		_, _ = p.cmd.Errors.Write(chunk) // its errors are its own
	}
	if p.cmd.MaxOutput > 0 && total > p.cmd.MaxOutput {
		p.End(Limited)
	}
	if p.pulse != nil {
		p.pulse.beat()
	}
}

func (p *Process) spill(chunk []byte) {
	if room := p.cmd.MaxSpill - p.spilled; p.cmd.MaxSpill > 0 && int64(len(chunk)) > room {
		chunk = chunk[:max(room, 0)]
	}
	if len(chunk) > 0 {
		p.cmd.Spill(chunk)
		p.spilled += int64(len(chunk))
	}
}

func reasonOf(ctx context.Context) Reason {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Timeout
	}
	return Aborted
}
