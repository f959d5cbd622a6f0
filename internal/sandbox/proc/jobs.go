package proc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of Jobs.
const (
	MaxJobs     = 20        // running at a time
	MaxFinished = 40        // remembered after their end; the oldest are forgotten
	JobTail     = 256 << 10 // bytes of output kept for each
)

// Jobs runs commands in the background. A job ends when it exits and nothing of it is left, by
// Kill, by Close, or with adze. Safe for concurrent use.
type Jobs struct {
	sup Supervisor

	mu     sync.Mutex
	next   int
	list   []*job // in order of their start
	closed bool
}

type job struct {
	id      string
	command string
	process *Process
	clean   func(string) string // edits its output for readers; optional

	mu   sync.Mutex
	read Piece
}

// NewJobs starts with none. Each job has a shim of its own, by which it is known.
func NewJobs(s Supervisor) *Jobs {
	return &Jobs{sup: s}
}

// JobStatus is what List and Read tell of a job.
type JobStatus struct {
	ID      string
	Command string // as given to Start
	Tag     string // of the command, made unique
	PID     int    // of the command
	Shim    int    // process id of its shim, above all that the job has started
	Running bool
	Started time.Time
	Sandbox string   // the name of the walls around it
	Apart   bool     // its changes to files are applied when it has ended
	Serves  []string // ports, as the user finds them, of one that runs in walls
	Result  Result   // when not running
}

// Overdue is a command that goes on as a job, because its time was over.
type Overdue struct {
	Job    JobStatus
	Output Text // so far; Read goes on behind it
}

// Run runs c and waits for it, as Supervisor.Run does. When its time is over it goes on as a job
// named command, and late is not nil: then there is no Result, Progress and Spill get nothing more,
// and the end of ctx does not end it. Clean, which is optional, edits its output for readers.
// Where no job can be started the command is ended.
func (j *Jobs) Run(ctx context.Context, command string, c Command, clean func(string) string) (r Result, late *Overdue, err error) {
	c.outlasts = true
	p, err := j.sup.Start(ctx, c)
	if err != nil {
		return Result{}, nil, err
	}
	select {
	case <-p.Done():
	case <-p.overdue:
		if late = j.keep(&job{command: command, process: p, clean: clean}); late != nil {
			return Result{}, late, nil
		}
		p.End(Timeout)
	}
	return p.Wait(), nil, nil
}

// keep makes a job of a command that runs. It is nil where that cannot be.
func (j *Jobs) keep(b *job) *Overdue {
	j.mu.Lock()
	room := !j.closed && j.running() < MaxJobs
	j.mu.Unlock()
	if !room {
		return nil
	}
	text, read, ok := b.process.goOn() // without the lock: the callee of Progress may ask for the jobs
	if !ok {
		return nil
	}
	b.read = read
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(b)
	if j.closed {
		b.process.End(Aborted)
	}
	return &Overdue{b.status(), text}
}

func (j *Jobs) add(b *job) {
	j.next++
	b.id = fmt.Sprintf("job%d", j.next)
	j.forget()
	j.list = append(j.list, b)
	if b.process.walls.Lasts != nil {
		b.process.walls.Lasts()
	}
}

// Start starts c as a job named command. It ends with an error of code "limit" when MaxJobs run.
func (j *Jobs) Start(command string, c Command) (JobStatus, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return JobStatus{}, failure(CodeAborted, "the session is over; no job can be started")
	case j.running() >= MaxJobs:
		return JobStatus{}, failure(CodeLimit, "%d background jobs are running, which is the limit; end one first", MaxJobs)
	}
	c.Linger = true
	if c.Tail == 0 {
		c.Head, c.Tail = 0, JobTail
	}
	// A job outlives the call that starts it, so it has no context of the call; Close ends it.
	p, err := j.sup.Start(context.Background(), c)
	if err != nil {
		return JobStatus{}, err
	}
	started := &job{command: command, process: p}
	j.add(started)
	return started.status(), nil
}

func (j *Jobs) running() int {
	n := 0
	for _, b := range j.list {
		if b.running() {
			n++
		}
	}
	return n
}

// forget drops the oldest finished jobs beyond MaxFinished.
func (j *Jobs) forget() {
	finished := len(j.list) - j.running()
	j.list = slices.DeleteFunc(j.list, func(b *job) bool {
		if finished <= MaxFinished || b.running() {
			return false
		}
		finished--
		return true
	})
}

// List returns all jobs that are remembered, in order of their start.
func (j *Jobs) List() []JobStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]JobStatus, 0, len(j.list))
	for _, b := range j.list {
		out = append(out, b.status())
	}
	return out
}

// Read returns what a job has written since the last Read, as far as it is kept.
func (j *Jobs) Read(id string) (JobStatus, Piece, error) {
	b, err := j.find(id)
	if err != nil {
		return JobStatus{}, Piece{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// The status first: a job that has ended cannot write after its output was read.
	st := b.status()
	b.read = b.process.Output().Since(b.read)
	piece := b.read
	piece.Text = b.cleaned(piece.Text)
	return st, piece, nil
}

// Tail returns the end of all that a job has written, without moving the place of Read.
func (j *Jobs) Tail(id string, size int) (JobStatus, Progress, error) {
	b, err := j.find(id)
	if err != nil {
		return JobStatus{}, Progress{}, err
	}
	st := b.status()
	end := b.process.Output().Last(size)
	end.Tail = b.cleaned(end.Tail)
	return st, end, nil
}

// Wait returns when the job has ended or ctx is done.
func (j *Jobs) Wait(ctx context.Context, id string) (JobStatus, error) {
	b, err := j.find(id)
	if err != nil {
		return JobStatus{}, err
	}
	select {
	case <-b.process.Done():
	case <-ctx.Done():
	}
	return b.status(), nil
}

// Kill ends a job and everything below it, and waits until that has happened.
func (j *Jobs) Kill(id string) (JobStatus, error) {
	b, err := j.find(id)
	if err != nil {
		return JobStatus{}, err
	}
	b.process.End(Aborted)
	b.process.Wait()
	return b.status(), nil
}

// Close ends all jobs, waits for that, and lets no further one start.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	list := slices.Clone(j.list)
	j.mu.Unlock()
	for _, b := range list {
		b.process.End(Aborted)
	}
	for _, b := range list {
		b.process.Wait()
	}
}

func (j *Jobs) find(id string) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var known []string
	for _, b := range j.list {
		if b.id == id {
			return b, nil
		}
		known = append(known, b.id)
	}
	if len(known) == 0 {
		return nil, failure(CodeNotFound, "there is no job %.40q; no background job has been started", id)
	}
	return nil, failure(CodeNotFound, "there is no job %.40q; the jobs are %s", id, strings.Join(known, ", "))
}

func (b *job) cleaned(text string) string {
	if b.clean == nil {
		return text
	}
	return b.clean(text)
}

func (b *job) running() bool {
	select {
	case <-b.process.Done():
		return false
	default:
		return true
	}
}

func (b *job) status() JobStatus {
	st := JobStatus{
		ID: b.id, Command: b.command, Tag: b.process.cmd.Tag, PID: b.process.PID(), Shim: b.process.supervisorPID(),
		Started: b.process.started, Running: b.running(), Sandbox: b.process.walls.Name,
		Apart: b.process.walls.Apart,
	}
	switch {
	case !st.Running:
		st.Result = b.process.Wait()
	case b.process.walls.Serves != nil:
		st.Serves = b.process.walls.Serves()
	}
	return st
}
