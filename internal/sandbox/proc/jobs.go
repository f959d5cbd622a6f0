package proc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Job limits.
const (
	MaxJobs     = 20        // running at a time
	MaxFinished = 40        // kept after their end; the oldest are dropped
	JobTail     = 256 << 10 // output bytes kept for each
)

// Jobs runs commands in the background. A job ends when all its processes have exited, by Kill, by
// Close, or with adze. It is safe for concurrent use.
type Jobs struct {
	sup Supervisor

	mu     sync.Mutex
	next   int
	list   []*job // by start
	closed bool
}

type job struct {
	id      string
	command string
	process *Process
	clean   func(string) string // edits output for readers; may be nil

	mu   sync.Mutex
	read Piece
}

// NewJobs returns an empty Jobs. Each job has its own shim.
func NewJobs(s Supervisor) *Jobs {
	return &Jobs{sup: s}
}

// JobStatus is a job's state for List and Read.
type JobStatus struct {
	ID      string
	Command string // as given to Start
	Tag     string // the command's, made unique
	PID     int    // the command's
	Shim    int    // the shim's process id; all of the job's processes are below it
	Running bool
	Started time.Time
	Sandbox string   // the walls' name
	Apart   bool     // changes to files are applied at its end
	Serves  []string // ports as the user reaches them, for a job in walls
	Result  Result   // valid after the end
}

// Overdue is a command that continues as a job after its timeout.
type Overdue struct {
	Job    JobStatus
	Output Text // so far; Read continues after it
}

// Run runs c and waits for it, like Supervisor.Run. After its timeout it continues as a job named
// command, and late is not nil: then there is no Result, Progress and Spill get nothing more, and
// the end of ctx does not end it. clean, if not nil, edits its output for readers. If no job can be
// started, the command is ended.
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

// keep turns a running command into a job, or returns nil if it cannot.
func (j *Jobs) keep(b *job) *Overdue {
	j.mu.Lock()
	room := !j.closed && j.running() < MaxJobs
	j.mu.Unlock()
	if !room {
		return nil
	}
	text, read, ok := b.process.goOn() // without the lock: Progress may call Jobs
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
	if b.process.confinement.OnJob != nil {
		b.process.confinement.OnJob()
	}
}

// Start starts c as a job named command. It returns an error with code "limit" if MaxJobs run.
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
	// A job outlives the call that starts it, so it has no context; Close ends it.
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

// List returns all running and kept jobs by start.
func (j *Jobs) List() []JobStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]JobStatus, 0, len(j.list))
	for _, b := range j.list {
		out = append(out, b.status())
	}
	return out
}

// Read returns a job's output since the last Read, as far as it is kept.
func (j *Jobs) Read(id string) (JobStatus, Piece, error) {
	b, err := j.find(id)
	if err != nil {
		return JobStatus{}, Piece{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// Status first: after its end a job writes nothing more.
	st := b.status()
	b.read = b.process.Output().Since(b.read)
	piece := b.read
	piece.Text = b.cleaned(piece.Text)
	return st, piece, nil
}

// Tail returns the end of a job's output without affecting Read.
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

// Kill ends a job with all its processes and waits for that.
func (j *Jobs) Kill(id string) (JobStatus, error) {
	b, err := j.find(id)
	if err != nil {
		return JobStatus{}, err
	}
	b.process.End(Aborted)
	b.process.Wait()
	return b.status(), nil
}

// Close ends all jobs, waits for that, and prevents new ones.
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
		Started: b.process.started, Running: b.running(), Sandbox: b.process.confinement.Name,
		Apart: b.process.confinement.UsesView,
	}
	switch {
	case !st.Running:
		st.Result = b.process.Wait()
	case b.process.confinement.Serves != nil:
		st.Serves = b.process.confinement.Serves()
	}
	return st
}
