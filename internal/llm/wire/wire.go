// Package wire holds what every model adapter needs between net/http and session.Provider: what it
// is beside its format (Options, Adapter), how an answer is read and ends (Answer), one exchange
// with an idle clock (Client, Reply), what models refused (Ask, Findings), framing (Lines, Events),
// the assembly of calls (Calls), failures as session.ProviderError (errors.go, said.go, kind.go,
// after.go), fields as loose as servers write them (loose.go), and a conversation as bytes that are
// encoded once (Cache, Body, History). What is left to an adapter is to translate and to assemble.
//
// The one rule: a helper here never decides that an answer is complete. Only the adapter knows its
// format's terminal event, and nothing is released before it.
//
// Start at Adapter and Answer, then Client.Post and Calls. Each of these has its file.
//
// Known limits: the server-sent events reader ignores id and retry, because no model API resumes a
// stream; answers that come compressed though nobody asked for it cannot be read.
package wire

import (
	"context"
	"errors"
	"iter"

	"adze/session"
)

// ErrGone says that the consumer stopped listening. It ends an adapter's work and is shown to
// nobody.
var ErrGone = errors.New("the consumer stopped early")

// Out hands chunks to the consumer.
type Out struct {
	yield func(session.Chunk) bool
	gone  bool
	begun bool            // something was handed over
	first *session.Mended // to be told before all else; if nil, nothing

	thoughts         thoughts
	text, reasonings halves
}

// Send yields one chunk. Its only error is ErrGone; return it unchanged.
func (o *Out) Send(c session.Chunk) error {
	if _, ok := c.(session.Forming); !ok {
		if err := o.flush(); err != nil {
			return err
		}
	}
	return o.send(c)
}

func (o *Out) send(c session.Chunk) error {
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

// Text yields a piece of the answer, with the thoughts in it apart.
func (o *Out) Text(delta string) error { return o.pieces(o.text.join(delta, false), false) }

func (o *Out) pieces(text string, last bool) error {
	for _, c := range o.thoughts.split(text, last) {
		if err := o.send(c); err != nil {
			return err
		}
	}
	return nil
}

// flush yields text that was held back: it might have been the beginning of a mark.
func (o *Out) flush() error {
	if o.thoughts.held == "" && o.text.held == 0 {
		return nil
	}
	return o.pieces(o.text.join("", true), true)
}

// Reasoning yields a piece of thinking, unless it is empty.
func (o *Out) Reasoning(delta string) error {
	if delta = o.reasonings.join(delta, false); delta == "" {
		return nil
	}
	return o.Send(session.Reasoning{Delta: delta})
}

// Release yields finished calls, in the model's order.
func (o *Out) Release(calls []session.Call) error {
	for _, c := range calls {
		if err := o.Send(c); err != nil {
			return err
		}
	}
	return nil
}

// Stream makes the sequence of one model request. Run sends everything but Done, which it returns;
// when it fails, Done keeps its usage and takes the error. Done is yielded exactly once and last,
// unless the consumer has left.
func Stream(ctx context.Context, run func(*Out) (session.Done, error)) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		out := &Out{yield: yield}
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
