package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"sync"

	"adze/session"
)

// A Recorder is a Provider that records another one. It is safe for concurrent use.
type Recorder struct {
	inner  session.Provider
	masker masker

	mu    sync.Mutex
	out   io.Writer
	begun bool
	steps int
	talks map[string]*talk
	err   error
}

// NewRecorder records to out, with secrets masked. A write error fails the next request, because a
// recording with gaps would be useless.
func NewRecorder(inner session.Provider, out io.Writer, secrets ...string) *Recorder {
	return &Recorder{inner: inner, out: out, masker: newMasker(secrets), talks: map[string]*talk{}}
}

// Name returns the recorded provider's name.
func (r *Recorder) Name() string { return r.inner.Name() }

// Stream forwards the request and writes the step when it has ended.
func (r *Recorder) Stream(ctx context.Context, q session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		step, err := r.begin(q)
		if err != nil {
			yield(session.Done{Stop: session.StopError, Err: err})
			return
		}
		for c := range r.inner.Stream(ctx, q) {
			step.Answer = append(step.Answer, r.masker.answerOf(c))
			done, ended := c.(session.Done)
			if ended {
				// Written before the end is passed on, so that a successful run is completely on
				// disk.
				if err := r.write(step); err != nil && done.Err == nil {
					c = session.Done{Stop: session.StopError, Err: err, Usage: done.Usage}
				}
			}
			if !yield(c) {
				if !ended {
					step.Answer = append(step.Answer, r.masker.answerOf(session.Done{Stop: session.StopAborted, Err: context.Canceled}))
					_ = r.write(step) // the next request reports the error
				}
				return
			}
		}
	}
}

func (r *Recorder) begin(q session.Request) (Step, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun && r.err == nil {
		r.begun = true
		r.err = r.encode(Header{Format: Format, Provider: r.inner.Name(), Model: q.Model})
	}
	if r.err != nil {
		return Step{}, r.err
	}
	name := talkOf(q)
	if r.talks[name] == nil {
		r.talks[name] = &talk{}
	}
	return Step{
		Agent: q.Agent, Talk: talkHash(q), System: digest([]byte(q.System)), Tools: q.ToolsDigest, NewMessages: r.masker.sent(r.talks[name].news(q.Messages)),
	}, nil
}

func (r *Recorder) write(s Step) error {
	r.masker.hide(s.Answer)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps++
	s.Step = r.steps
	if r.err == nil {
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
