package app

import (
	"context"
	"errors"
	"strings"

	"adze/internal/config"
	"adze/internal/offer"
	"adze/session"
	"adze/tool"
)

// newShelf makes the shelf of a run. Tools that the person named are all offered.
func (a *app) newShelf(o *options, s settings, p profile) (*offer.Shelf, error) {
	scorer, err := a.scorer(s, s.config.Tools.Scorer)
	if err != nil {
		return nil, err
	}
	all, budget := s.config.Tools.OfferAbove, p.budget
	if o.namesTools() {
		all, budget = max(len(o.tools), 1), 0
	}
	return offer.New(scorer, p.core, budget, all), nil
}

// scorer finds a scorer by its name; empty is the default.
func (a *app) scorer(s settings, name string) (tool.Scorer, error) {
	return offer.NewScorers(s.config, a.getenv, s.at.state, func(model string) (func(context.Context, string, string) (string, error), error) {
		return a.asks(s.config, model)
	}).Named(name)
}

// asks asks a model one question without tools and without a session.
func (a *app) asks(cfg config.Config, name string) (func(ctx context.Context, instruction, question string) (string, error), error) {
	m, err := a.namedModel(cfg, name)
	if err != nil {
		return nil, err
	}
	return m.answer, nil
}

// answer asks a model one question without tools and without a session.
func (m model) answer(ctx context.Context, instruction, question string) (string, error) {
	request := session.Request{
		Model: m.name, System: instruction, MaxTokens: 200,
		Messages: []session.Message{{ID: "m1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: question}}}},
	}
	var text strings.Builder
	err := errors.New("the stream ended without its end")
	for c := range m.provider.Stream(ctx, request) {
		switch c := c.(type) {
		case session.Text:
			text.WriteString(c.Delta)
		case session.Done:
			err = c.Err
		}
	}
	return text.String(), err
}
