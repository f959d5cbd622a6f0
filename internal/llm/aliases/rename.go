// Package aliases shows tools to a model under the names that it knows best, and gives its calls
// their real names back: small models were trained on the names that most wrappers for local models
// use.
//
// The one rule: only the model sees other names. The registry, the gate, the store and the audit
// know one name for each tool and argument; a recording holds these too.
//
// Start at Wrap, then terms.go, which does the renaming in both directions.
//
// Known limits: of what a tool writes into the result of a call that was done, only the note in its
// last line is in the model's words.
package aliases

import (
	"context"
	"iter"
	"slices"
	"sync"

	"adze/session"
	"adze/tool"
)

// Names are what a kind of model calls tools and their arguments, by their real names.
type Names struct {
	Tools     map[string]string
	Arguments map[string]map[string]string // of a tool, those on the first level
}

// mostKept bounds how many messages are kept renamed.
const mostKept = 4096

// Provider shows tools under other names to the models of another provider. It is safe for
// concurrent use.
type Provider struct {
	session.Provider
	names Names

	mu     sync.Mutex
	digest string // of the tools below
	tools  []tool.Definition
	kept   map[*session.Part][]session.Part // by the first part of a message: a history stays the same values
}

var _ session.Provider = (*Provider)(nil)

// Wrap makes a provider whose models know tools by names.
func Wrap(p session.Provider, names Names) *Provider {
	return &Provider{Provider: p, names: names, kept: map[*session.Part][]session.Part{}}
}

// Warm lets the other provider open its connection ahead, if it can.
func (p *Provider) Warm(ctx context.Context) {
	if w, ok := p.Provider.(interface{ Warm(context.Context) }); ok {
		w.Warm(ctx)
	}
}

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	t := newTerms(p.names, r.Tools)
	r = p.shown(t, r)
	return func(yield func(session.Chunk) bool) {
		for c := range p.Provider.Stream(ctx, r) {
			switch said := c.(type) {
			case session.Forming:
				said.Name = t.real(said.Name)
				c = said
			case session.Call:
				said.RawCall = t.meant(said.RawCall)
				c = said
			}
			if !yield(c) {
				return
			}
		}
	}
}

// shown is a request in the model's words.
func (p *Provider) shown(t terms, r session.Request) session.Request {
	if name := t.shown(string(r.Choice)); name != "" {
		r.Choice = session.Choice(name)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.ToolsDigest == "" || r.ToolsDigest != p.digest {
		p.tools, p.digest = make([]tool.Definition, len(r.Tools)), r.ToolsDigest
		for i, d := range r.Tools {
			p.tools[i] = t.definition(d)
		}
	}
	r.Tools = p.tools
	if r.ToolsDigest != "" {
		r.ToolsDigest = "renamed " + r.ToolsDigest
	}
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i].Parts = p.parts(t, r.Messages[i].Parts)
	}
	return r
}

// parts renames the parts of a message once. Under p.mu.
func (p *Provider) parts(t terms, given []session.Part) []session.Part {
	if !slices.ContainsFunc(given, t.concerns) {
		return given
	}
	// A message that still grows, or that other tools would change the words of, is another one.
	if known, ok := p.kept[&given[0]]; ok && len(known) == len(given) && !t.fewer {
		return known
	}
	out := make([]session.Part, len(given))
	for i, part := range given {
		out[i] = t.part(part)
	}
	if t.fewer {
		return out
	}
	if len(p.kept) >= mostKept {
		clear(p.kept)
	}
	p.kept[&given[0]] = out
	return out
}
