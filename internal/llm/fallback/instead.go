// Package fallback answers a model that its server does not have with those that it has.
//
// The one rule: the server is asked only after it said that it does not know the model, which costs
// nothing; without an answer the error stays as it was.
//
// Start at Wrap. Known limits: a server that takes any name is never asked.
package fallback

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"adze/session"
	"adze/tool"
)

// patience is how long the user waits for the list, on top of the error that they get anyway.
const patience = 3 * time.Second

// shown is how many models a hint names.
const shown = 8

// Provider adds the list to the error of another provider.
type Provider struct {
	session.Provider
	models func(context.Context) ([]string, error)
}

var _ session.Provider = (*Provider)(nil)

// Wrap makes a provider that names its models where one is not known; models asks its server for
// them.
func Wrap(p session.Provider, models func(context.Context) ([]string, error)) *Provider {
	return &Provider{Provider: p, models: models}
}

// Warm lets the other provider open its connection ahead, if it can.
func (p *Provider) Warm(ctx context.Context) {
	if w, ok := p.Provider.(interface{ Warm(context.Context) }); ok {
		w.Warm(ctx)
	}
}

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		for c := range p.Provider.Stream(ctx, r) {
			if done, ok := c.(session.Done); ok {
				p.advise(ctx, r.Model, done.Err)
			}
			if !yield(c) {
				return
			}
		}
	}
}

// advise says which models there are, in the hint of an error about one that there is not.
func (p *Provider) advise(ctx context.Context, model string, err error) {
	var failed *session.ProviderError
	if !errors.As(err, &failed) || failed.Kind != session.NoModelError {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	names, err := p.models(ctx)
	if err != nil || len(names) == 0 || slices.Contains(names, model) { // it has it: something else is wrong
		return
	}
	slices.Sort(names)
	listed := strings.Contains(failed.Hint, " has ") // whoever looked at the place said so already
	if near := tool.Nearest(model, names, 1); len(near) == 1 {
		failed.Hint = fmt.Sprintf("did you mean %s/%s?\n%s", p.Name(), near[0], failed.Hint)
	}
	if listed {
		return
	}
	rest := ""
	if n := len(names) - shown; n > 0 {
		names, rest = names[:shown], fmt.Sprintf(" and %d more: adze models %s --check", n, p.Name())
	}
	failed.Hint = strings.TrimSpace(failed.Hint) + "\n" + p.Name() + " has " + strings.Join(names, ", ") + rest
}
