package recorder

import (
	"context"
	"sync"

	"adze/internal/sandbox/proc"
)

// Shells holds the shells of a run and its subagents, whose jobs outlive their calls. It is safe
// for concurrent use.
type Shells struct {
	mu  sync.Mutex
	all []*proc.Jobs
}

// Add registers a shell's jobs.
func (s *Shells) Add(j *proc.Jobs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, j)
}

// Running lists the running jobs.
func (s *Shells) Running() (out []Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, jobs := range s.all {
		for _, j := range jobs.List() {
			if j.Running {
				out = append(out, Job{Tag: proc.TagOf(j.Tag), Started: j.Started, Wait: func(ctx context.Context) { _, _ = jobs.Wait(ctx, j.ID) }})
			}
		}
	}
	return out
}
