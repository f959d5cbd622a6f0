package app

import (
	"context"

	"adze/internal/config"
	"adze/internal/models"
	"adze/prompts"
	"adze/session"
)

// models finds models for a configuration of this person.
func (a *app) models(cfg config.Config) *models.Finder {
	return models.New(cfg, config.File(a.getenv, userPlaces(a.getenv).config), a.getenv)
}

// modelOf chooses the model of a run and makes sure that the run can keep to its limits with it.
func (a *app) modelOf(ctx context.Context, o *options, w *wired) (models.Model, error) {
	cfg := w.settings.config
	find := a.models(cfg)
	m, err := o.modelFrom(ctx, find, a.secrets(cfg))
	if err != nil {
		return m, err
	}
	if err := o.affordable(find, m); err != nil {
		return m, err
	}
	if cfg.TaskModel != "" && !m.Profile.Tasks { // the person wants them, whatever they cost
		m.Profile.Tasks, m.Profile.Core = true, append(m.Profile.Core, "task")
	}
	m.Warm(ctx)
	if o.record == "" {
		return m, nil
	}
	m, file, err := m.Record(o.record, a.secrets(cfg))
	if err == nil {
		w.closers = append(w.closers, func() { file.Close() })
	}
	return m, err
}

// modelFrom is what the flags put in a model's place, else the model that is found.
func (o *options) modelFrom(ctx context.Context, find *models.Finder, secrets []string) (models.Model, error) {
	switch {
	case o.byHand != nil:
		return models.Model{Provider: o.byHand, Name: "tools-run", Profile: models.Coder()}, nil
	case o.demo:
		return demoModel(o), nil
	case o.replay != "":
		return models.Recording(o.replay, secrets)
	}
	return find.Choose(ctx)
}

// affordable refuses a limit in money that nobody could hold.
func (o *options) affordable(find *models.Finder, m models.Model) error {
	if o.maxCost == 0 || find.Priced(m) {
		return nil
	}
	return misuse(`write down what a million tokens cost: {"models": {"`+m.Full()+`": {"price": {"input": 3, "output": 15}}}} in `+find.File,
		"--max-cost cannot be held: the price of %s is not known", m.Full())
}

// pieces tells the parts of a system prompt apart.
func pieces(system string) []session.Piece {
	var out []session.Piece
	for _, p := range prompts.Split(system) {
		out = append(out, session.Piece(p))
	}
	return out
}
