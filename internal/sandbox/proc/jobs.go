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
	PID     int    // of the command
	Shim    int    // process id of its shim, above all that the job has started
	Running bool
	Started time.Time
	Sandbox string // the name of the walls around it
	Result  Result // when not running
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
	j.next++
	started := &job{id: fmt.Sprintf("job%d", j.next), command: command, process: p}
	j.forget()
	j.list = append(j.list, started)
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
	return st, b.read, nil
}

// Tail returns the end of all that a job has written, without moving the place of Read.
func (j *Jobs) Tail(id string, size int) (JobStatus, Progress, error) {
	b, err := j.find(id)
	if err != nil {
		return JobStatus{}, Progress{}, err
	}
	st := b.status()
	return st, b.process.Output().Last(size), nil
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
		ID: b.id, Command: b.command, PID: b.process.PID(), Shim: b.process.supervisorPID(),
		Started: b.process.started, Running: b.running(), Sandbox: b.process.walls.Name,
	}
	if !st.Running {
		st.Result = b.process.Wait()
	}
	return st
}
