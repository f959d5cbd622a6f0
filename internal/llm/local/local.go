// Package local is what servers of one's own need beside their wire format: what they tell of
// themselves (discover.go and the files below it), and decorators of a provider. A decorator
// refuses a prompt that the server would cut (limit.go), describes tools to a model that takes none
// (described.go), uses the own format of an Ollama behind a compatible address (route.go), shows
// tools under names that small models know (rename.go), and names the server's models when one is
// not known (suggest.go).
//
// The one rule: nothing is guessed. What a server does not tell is nil or 0; a prompt is refused
// only when it certainly does not fit, and a model loses its tools only when its server says so.
//
// Start at Decorate, and at Server.Models.
//
// Known limits: vLLM does not tell whether it was started with a tool parser; a picture counts as
// 1,024 tokens; a program behind a gateway that hides its own addresses is used as configured; a
// list of models is read whole, up to 8 MiB.
package local

import (
	"context"
	"iter"

	"adze/session"
)

// Decorator changes the requests to a provider, or its answers.
type Decorator func(session.Provider) session.Provider

// Decorate applies decorators. The last one sees a request first; nil is none.
func Decorate(p session.Provider, with ...Decorator) session.Provider {
	for _, d := range with {
		if d != nil {
			p = d(p)
		}
	}
	return p
}

// decorated is a provider whose requests are made by stream.
type decorated struct {
	session.Provider
	stream func(ctx context.Context, r session.Request, yield func(session.Chunk) bool)
}

// Stream asks the model.
func (d decorated) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) { d.stream(ctx, r, yield) }
}

// ending yields a stream whose end is what change makes of it.
func ending(seq iter.Seq[session.Chunk], yield func(session.Chunk) bool, change func(session.Done) session.Done) {
	for c := range seq {
		if done, ok := c.(session.Done); ok {
			c = change(done)
		}
		if !yield(c) {
			return
		}
	}
}
