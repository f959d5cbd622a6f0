package models

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"time"

	"adze/session"
)

// fallbackTime is how long another model is asked before the chosen one is tried again.
const fallbackTime = 2 * time.Minute

// fallback asks other models while a server is overloaded or cannot be reached. It is safe for
// concurrent use.
type fallback struct {
	session.Provider
	others []Model
	now    func() time.Time

	mu    sync.Mutex
	until []time.Time // by model, the chosen one first: not asked before
	last  int         // the model that answered last
}

// withFallback returns a model that gives way to those of the setting fallback. The user is told
// which one answers.
func (f *Finder) withFallback(m Model) (Model, error) {
	p := &fallback{Provider: m.Provider, now: time.Now}
	for _, name := range f.config.Fallback {
		if name == m.Full() {
			continue
		}
		other, err := f.named(name)
		if err != nil {
			var none *MissingError
			if errors.As(err, &none) {
				err = &MissingError{"fallback " + name + ": " + none.Message, none.Hint}
			}
			return Model{}, err
		}
		p.others = append(p.others, other)
	}
	if len(p.others) == 0 {
		return m, nil
	}
	p.until = make([]time.Time, 1+len(p.others))
	m.Provider = p
	return m, nil
}

// Stream asks the first model that has not failed lately, and the next ones if it fails.
func (p *fallback) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		why := ""
		for at := p.begin(); ; at++ {
			asked, own := p.Provider, r
			said := p.Name() + "/" + r.Model + " is asked again"
			if at > 0 {
				other := p.others[at-1]
				asked, own.Model, own.Effort = other.Provider, other.Name, ""
				said = "this answer is of " + other.Full() + ", until " + p.Name() + "/" + r.Model + " can be asked again"
			}
			failed := p.ask(ctx, asked, own, at, strings.TrimPrefix(why+"; "+said, "; "), yield)
			if failed == nil {
				return
			}
			why = failed.Error()
		}
	}
}

// begin returns the first model that may be asked; if none may, the chosen one.
func (p *fallback) begin() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, until := range p.until {
		if !p.now().Before(until) {
			return i
		}
	}
	return 0
}

// ask passes on one model's stream, with a notice if another one answered last. It returns the
// failure if the next model is to be asked.
func (p *fallback) ask(ctx context.Context, of session.Provider, r session.Request, at int, notice string, yield func(session.Chunk) bool) error {
	begun := false
	for c := range of.Stream(ctx, r) {
		done, ended := c.(session.Done)
		if ended && !begun && ctx.Err() == nil && at < len(p.others) && gaveOut(done.Err) {
			p.mu.Lock()
			p.until[at] = p.now().Add(fallbackTime)
			p.mu.Unlock()
			return done.Err
		}
		if at > 0 {
			if c = foreign(c, p.others[at-1]); c == nil {
				continue
			}
		}
		if !begun && p.changes(at) {
			if m, is := c.(session.Mended); is { // it comes once
				m.Reasons = append([]string{notice}, m.Reasons...)
				c = m
			} else if !yield(session.Mended{Reasons: []string{notice}}) {
				return nil
			}
		}
		begun = true
		if !yield(c) {
			return nil
		}
	}
	return nil
}

// changes reports whether another model answered last.
func (p *fallback) changes(at int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.last
	p.last = at
	return before != at
}

// gaveOut reports a failure of the server rather than of the request, its key or its model.
func gaveOut(err error) bool {
	var failed *session.ProviderError
	return errors.As(err, &failed) && !failed.Cut && failed.Temporary()
}

// foreign names another model at the end of its answer, and removes what only that model can read:
// the session stores pieces of an answer under the chosen one before its end is known.
func foreign(c session.Chunk, by Model) session.Chunk {
	switch c := c.(type) {
	case session.Done:
		c.Provider, c.Model = by.Provider.Name(), by.Name
		return c
	case session.Reasoning:
		if c.Opaque = nil; c.Delta == "" {
			return nil
		}
		return c
	case session.Call:
		c.Opaque = nil
		return c
	case session.Mended: // what the other server refused, the chosen one may take
		return session.Mended{Reasons: c.Reasons}
	}
	return c
}
