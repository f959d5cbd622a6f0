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
	// drainTime is how long the output is read after everything below the shim has ended. What is
	// in the pipe arrives at once; only a descriptor held by a stranger keeps it open.
	drainTime = 100 * time.Millisecond
	// stuckTime is how long a shim may take to end its processes before it is killed itself. Its
	// own limit is 2 s.
	stuckTime = 3 * time.Second
	// startTime is how long a shim may take to start its command, a slow disk included.
	startTime = 10 * time.Second
	// chunkSize is read at a time: the default size of a Linux pipe.
	chunkSize = 64 << 10
	// smallChunk is read at a time until a command writes more: most write less in all.
	smallChunk = 2 << 10
)

// Process is a command that has been started.
type Process struct {
	cmd     Command
	pid     int
	started time.Time

	link
	inPipe, outPipe, errPipe *os.File // nil where not wanted
	walls                    Walls
	lost                     bool // the shim was killed
	unguard                  func()
	unrecord                 func()

	out, errs *Output
	pulse     *pulse
	spilled   int64
	timer     *time.Timer   // of Command.Timeout; nil where it has none
	detach    func() bool   // ends the watch over the context of the start
	overdue   chan struct{} // closed when the time of a command that outlasts it is over

	reading sync.Mutex // held while a chunk of the output is handed on

	mu     sync.Mutex
	reason Reason
	begun  bool // it runs
	job    bool // it goes on as a job: nobody waits for it
	exited bool // its exit has been reported: too late to be killed by anybody
	ending bool // the end has been asked for, or has come
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

// PID is the process id of the command, which leads a session of its own.
func (p *Process) PID() int { return p.outerPID() }

// Output is what the command has written so far.
func (p *Process) Output() *Output { return p.out }

// Errors is what it has written to standard error, where that is kept apart; else nil.
func (p *Process) Errors() *Output { return p.errs }

// Done is closed when the command and everything below it has ended and Wait will not block.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns the result when the command and everything below it has ended.
func (p *Process) Wait() Result {
	<-p.done
	return p.result
}

// End asks for the end of the command and everything below it, and does not wait. The first reason
// given stays; after the command has exited none does.
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

// guard ends the process when its time is over or ctx is done. It stands before the command has
// started, because even that can hang, on a dead network file system say.
func (p *Process) guard(ctx context.Context) {
	forget := context.AfterFunc(ctx, func() { p.End(reasonOf(ctx)) })
	if limit := p.cmd.Timeout; limit > 0 {
		if p.cmd.outlasts { // its time begins when it runs
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

// timeOver ends the command, or tells who waits for one that may outlast its time.
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

// goOn makes a job of a running command: the context of its start ends it no more, its output is
// handed to nobody, and changes that wait for a decision are decided without a user. It returns
// what the command has written so far. It is false when the command has ended or is being ended.
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

// follow starts what watches over a running command: readers and status.
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

// awaitEnd reads the status pipe to its end.
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
			p.noteExcess(e.Much)
		case shim.Gone:
			p.result.Ended, p.result.Survivors = e.Ended, e.Left
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

// noteLost ends what a killed shim has left.
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

// finish completes the result and lets go of everything.
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
	barred, hidden := p.explain() // before what stood around it is taken away
	p.result.Sandbox, p.result.Findings = p.walls.Name, p.letGo()
	if aside := p.result.Aside; job && aside != nil {
		p.result.decided(aside.Apply(nil))
	}
	p.result.Hidden = hidden
	p.result.Barred = append(barred, p.result.Barred...)
	for _, b := range p.result.Barred {
		p.result.Deny(b)
	}
	if p.errs != nil {
		p.result.Errors = p.errs.Text()
	}
	if p.pulse != nil && !job {
		p.pulse.stop()
	}
	// The shim has said its last word and holds nothing; its exit need not be waited for.
	p.discard()
	close(p.done)
}

// read takes everything the command writes. It does nothing else: timers run elsewhere.
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
			left(from, put) // when it was time, not the end, on a busy machine
			return
		case n == len(buf) && n < chunkSize:
			buf = make([]byte, chunkSize)
		}
	}
}

func (p *Process) take(chunk []byte, to *Output) {
	if len(chunk) == 0 {
		return // all of it waits for what comes next
	}
	p.reading.Lock()
	total := to.add(chunk)
	if to == p.out && p.cmd.Spill != nil {
		p.spill(chunk)
	}
	p.reading.Unlock()
	if to == p.errs && p.cmd.Errors != nil {
		_, _ = p.cmd.Errors.Write(chunk) // what it loses is its own
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
