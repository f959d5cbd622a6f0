package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"adze/session"
)

// Recorder is a Provider that passes everything through and writes it down.
type Recorder struct {
	inner session.Provider

	mu    sync.Mutex
	out   io.Writer
	begun bool
	steps int
	sent  talks
	err   error
}

// NewRecorder records to out. What cannot be written stops the run at the next request: a recording with
// holes would be worse than none.
func NewRecorder(inner session.Provider, out io.Writer) *Recorder {
	return &Recorder{inner: inner, out: out}
}

// Name is the recorded provider's.
func (r *Recorder) Name() string { return r.inner.Name() }

// Stream asks the inner provider and writes the step down when it has ended.
func (r *Recorder) Stream(ctx context.Context, q session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		step, err := r.begin(q)
		if err != nil {
			yield(session.Done{Stop: session.StopError, Err: err})
			return
		}
		for c := range r.inner.Stream(ctx, q) {
			step.Answer = append(step.Answer, answerOf(c))
			if done, ok := c.(session.Done); ok {
				// Written before the end is passed on: a run that succeeded is wholly on disk.
				if err := r.write(step); err != nil && done.Err == nil {
					c = session.Done{Stop: session.StopError, Err: err, Usage: done.Usage}
				}
			}
			if !yield(c) {
				return
			}
		}
	}
}

func (r *Recorder) begin(q session.Request) (Step, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun {
		r.begun = true
		r.err = r.encode(Header{Format: Format, Provider: r.inner.Name(), Model: q.Model})
	}
	if r.err != nil {
		return Step{}, r.err
	}
	news := r.sent.news(q)
	r.sent = r.sent.after(q)
	return Step{
		Agent: q.Agent, System: digest([]byte(q.System)), Tools: q.ToolsDigest, Sent: sentOf(news),
	}, nil
}

func (r *Recorder) write(s Step) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.steps++ // numbered as they are written: subagents end in any order
		s.Step = r.steps
		r.err = r.encode(s)
	}
	return r.err
}

func (r *Recorder) encode(v any) error {
	enc := json.NewEncoder(r.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("the recording could not be written: %w", err)
	}
	return nil
}

// failureOf keeps what a provider error says.
func failureOf(err error) *Failure {
	var p *session.ProviderError
	if errors.As(err, &p) {
		return &Failure{Kind: p.Kind, Status: p.Status, Message: mask(p.Message), Hint: p.Hint}
	}
	return &Failure{Kind: session.NetworkError, Message: mask(err.Error())}
}
