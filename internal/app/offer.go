package app

import (
	"context"

	"adze/internal/config"
	"adze/internal/models"
	"adze/internal/offer"
	"adze/tool/pick"
)

// newShelf makes the shelf of a run. Tools that the person named are all offered.
func (a *app) newShelf(o *options, s settings, p models.Profile) (*offer.Shelf, error) {
	scorer, err := a.scorer(s, s.config.Tools.Scorer)
	if err != nil {
		return nil, err
	}
	all, budget := s.config.Tools.OfferAbove, p.Budget
	if o.namesTools() {
		all, budget = max(len(o.tools), 1), 0
	}
	return offer.New(scorer, p.Core, budget, all), nil
}

// scorer finds a scorer by its name; empty is the default.
func (a *app) scorer(s settings, name string) (pick.Scorer, error) {
	return offer.NewScorers(s.config, a.getenv, s.at.state, func(model string) (func(context.Context, string, string) (string, error), error) {
		return a.asks(s.config, model)
	}).Named(name)
}

// asks asks a model one question without tools and without a session.
func (a *app) asks(cfg config.Config, name string) (func(ctx context.Context, instruction, question string) (string, error), error) {
	m, err := a.models(cfg).Named(name)
	if err != nil {
		return nil, err
	}
	return m.Answer, nil
}
