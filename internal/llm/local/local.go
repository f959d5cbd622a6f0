// Package local supports self-hosted servers beyond their wire format: discovery (discover.go and
// the files for each program) and decorators of a provider. The decorators refuse a prompt that the
// server would cut (limit.go), describe tools to a model that takes none (described.go), use an
// Ollama's own format behind a compatible address (route.go), show tools under names that small
// models know (rename.go), and name the server's models if one is unknown (suggest.go).
//
// The one rule: nothing is guessed. Unknown values are nil or 0; a prompt is refused only if it
// certainly does not fit, and a model loses its tools only if its server says so.
//
// Start at Decorate, and at Server.Models.
//
// Known limits: vLLM does not report whether it has a tool parser; a picture counts as 1,024
// tokens; a program behind a gateway that hides its own addresses is used as configured; a model
// list is read only up to 8 MiB.
package local

import (
	"context"
	"iter"

	"adze/session"
)

// A Decorator changes the requests to a provider, or its answers.
type Decorator func(session.Provider) session.Provider

// Decorate applies decorators. The last one sees a request first; nil ones are skipped.
func Decorate(p session.Provider, with ...Decorator) session.Provider {
	for _, d := range with {
		if d != nil {
			p = d(p)
		}
	}
	return p
}

type decorated struct {
	session.Provider
	stream func(ctx context.Context, r session.Request, yield func(session.Chunk) bool)
}

// Stream sends the request and yields the answer.
func (d decorated) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) { d.stream(ctx, r, yield) }
}

// ending yields a stream with its end replaced by the result of change.
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
