// Package wire holds everything that model adapters share between net/http and session.Provider:
// options (Options, Adapter), reading an answer (Answer), an exchange with an idle timer (Client,
// Reply), handling refusals (Ask, Findings), framing (Lines, Events), assembling calls (Calls),
// failures as session.ProviderError (errors.go, said.go, kind.go, after.go), lenient fields
// (loose.go), and cached encoding (Cache, Body, History).
//
// The one rule: a helper here never decides that an answer is complete. Only the adapter knows its
// format's terminal event, and nothing is released before it.
//
// Start at Adapter and Answer, then Client.Post and Calls.
//
// Known limits: the event reader ignores id and retry, because no model API resumes a stream;
// unrequested compression cannot be read.
package wire

import (
	"context"
	"errors"
	"iter"

	"adze/session"
)

// ErrGone means that the consumer stopped listening. It ends an adapter's work and is never shown.
var ErrGone = errors.New("the consumer stopped early")

// ChunkSender sends chunks to the consumer.
type ChunkSender struct {
	yield func(session.Chunk) bool
	gone  bool
	begun bool            // something was sent
	first *session.Mended // to be sent first; may be nil

	thoughts         thoughts
	text, reasonings halves
}

// Send yields one chunk. Its only error is ErrGone; return it unchanged.
func (o *ChunkSender) Send(c session.Chunk) error {
	if _, ok := c.(session.Forming); !ok {
		if err := o.flush(); err != nil {
			return err
		}
	}
	return o.send(c)
}

func (o *ChunkSender) send(c session.Chunk) error {
	if o.gone {
		return ErrGone
	}
	if first := o.first; first != nil {
		if o.first = nil; !o.yield(*first) {
			o.gone = true
			return ErrGone
		}
	}
	o.begun = true
	if !o.yield(c) {
		o.gone = true
		return ErrGone
	}
	return nil
}

// Text yields a piece of the answer, with thoughts separated.
func (o *ChunkSender) Text(delta string) error { return o.pieces(o.text.join(delta, false), false) }

func (o *ChunkSender) pieces(text string, last bool) error {
	for _, c := range o.thoughts.split(text, last) {
		if err := o.send(c); err != nil {
			return err
		}
	}
	return nil
}

// flush yields text held back as a possible beginning of a mark.
func (o *ChunkSender) flush() error {
	if o.thoughts.undecided == "" && o.text.pending == 0 {
		return nil
	}
	return o.pieces(o.text.join("", true), true)
}

// Reasoning yields a piece of thinking, unless it is empty.
func (o *ChunkSender) Reasoning(delta string) error {
	if delta = o.reasonings.join(delta, false); delta == "" {
		return nil
	}
	return o.Send(session.Reasoning{Delta: delta})
}

// Release yields finished calls, in the model's order.
func (o *ChunkSender) Release(calls []session.Call) error {
	for _, c := range calls {
		if err := o.Send(c); err != nil {
			return err
		}
	}
	return nil
}

// Stream returns the chunks of one model request. run sends everything but Done, which it returns;
// if it fails, Done keeps its usage and gets the error. Done is yielded exactly once and last,
// unless the consumer has stopped.
func Stream(ctx context.Context, run func(*ChunkSender) (session.Done, error)) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		out := &ChunkSender{yield: yield}
		done, err := run(out)
		if out.gone || out.flush() != nil {
			return
		}
		yield(conclude(ctx, done, err))
	}
}

func conclude(ctx context.Context, done session.Done, err error) session.Done {
	if err == nil {
		return done
	}
	done.Err, done.Stop = err, session.StopError
	var failure *session.ProviderError
	switch {
	case ctx.Err() != nil:
		done.Err, done.Stop = ctx.Err(), session.StopAborted
	case errors.As(err, &failure) && failure.Kind == session.RefusedAnswer:
		done.Stop = session.StopRefused
	}
	return done
}
