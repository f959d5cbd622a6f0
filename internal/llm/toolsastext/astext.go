// Package toolsastext gives tools to a model that has none of its own: they are described in the
// system prompt, calls and results of the conversation become text, and what the model writes in
// the same form is recovered as calls.
//
// The form is that of Hermes and Qwen, which package textparse reads among others:
//
//	<tool_call>
//	{"name": "read", "arguments": {"path": "a.txt"}}
//	</tool_call>
//
// and the result comes as <tool_response name="read"> in the next message.
//
// The one rule: nobody's tools are taken away by a guess. A model gets them as text where its
// server says that it takes none, or after the server refused a request because of them, which
// costs one request that no model has read.
//
// Start at Provider.Stream; talk.go writes the text.
//
// Known limits: nothing forces a call, and what a model was told in its own form before stays in
// the conversation as text of this one.
package toolsastext

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"

	"adze/internal/llm/wire"
	"adze/session"
)

// Options say what becomes of tools that a model does not take.
type Options struct {
	// Plain leaves them out: a conversation without tools.
	Plain bool
	// Toolless reports a model of which its server says that it takes no tools; if nil, nobody knows.
	Toolless func(ctx context.Context, model string) bool
	// Findings keep which models at Address refused tools; if nil, the next process asks again.
	Findings *wire.Findings
	Address  string
	// Recover finds the calls in the text of an answer to a request; if nil, the caller does it.
	Recover func(iter.Seq[session.Chunk], session.Request) iter.Seq[session.Chunk]
}

// findingKind names the finding that a model takes no tools.
const findingKind = "toolless"

// Provider adds tools as text to another provider. It is safe for concurrent use.
type Provider struct {
	session.Provider
	options Options

	mu     sync.Mutex
	refuse map[string]bool // by model
}

var _ session.Provider = (*Provider)(nil)

// Wrap makes a provider whose models need no tools of their own.
func Wrap(p session.Provider, o Options) *Provider {
	return &Provider{Provider: p, options: o, refuse: map[string]bool{}}
}

// Warm lets the other provider open its connection ahead, if it can.
func (p *Provider) Warm(ctx context.Context) {
	if w, ok := p.Provider.(interface{ Warm(context.Context) }); ok {
		w.Warm(ctx)
	}
}

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	if len(r.Tools) == 0 {
		return p.Provider.Stream(ctx, r)
	}
	return func(yield func(session.Chunk) bool) {
		if p.refuses(r.Model) {
			p.text(ctx, r, "", yield)
			return
		}
		if p.options.Findings.Get(p.options.Address, r.Model, findingKind, new(bool)) || p.options.Toolless != nil && p.options.Toolless(ctx, r.Model) {
			p.learn(r.Model)
			p.text(ctx, r, p.notice(r.Model), yield)
			return
		}
		begun := false
		for c := range p.Provider.Stream(ctx, r) {
			if done, ok := c.(session.Done); ok && !begun && wire.NoTools(done.Err) {
				p.learn(r.Model)
				p.options.Findings.Keep(p.options.Address, r.Model, findingKind, true)
				p.text(ctx, r, p.notice(r.Model), yield)
				return
			}
			begun = true
			if !yield(c) {
				return
			}
		}
	}
}

// text asks without tools, but for their description.
func (p *Provider) text(ctx context.Context, r session.Request, notice string, yield func(session.Chunk) bool) {
	seq := p.Provider.Stream(ctx, p.converted(r))
	if p.options.Recover != nil && !p.options.Plain {
		seq = p.options.Recover(seq, r)
	}
	for c := range seq {
		if done, ok := c.(session.Done); ok && notice != "" && done.Err == nil {
			done.Notice = strings.TrimSuffix(notice+"; "+done.Notice, "; ")
			c = done
		}
		if !yield(c) {
			return
		}
	}
}

func (p *Provider) notice(model string) string {
	if p.options.Plain {
		return fmt.Sprintf("%s takes no tools: it is only talked to", model)
	}
	return fmt.Sprintf("%s takes no tools: they are described to it in words, and the calls that it writes as text are checked and run like any other", model)
}

func (p *Provider) refuses(model string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refuse[model]
}

func (p *Provider) learn(model string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse[model] = true
}
