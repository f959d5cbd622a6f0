package run

import (
	"context"
	"errors"
	"fmt"

	"adze/internal/cmd/doctor"
	"adze/internal/config"
	"adze/internal/config/login"
	"adze/internal/config/paths"
	"adze/internal/llm/models"
	"adze/internal/run/hostio"
	"adze/internal/run/modelpicker"
	"adze/tui"
	"adze/tui/api"
	"adze/tui/firstrun"
)

// chooser leads from a start that found no model to one that has one.
type chooser struct {
	app     *app
	given   options // of the command line
	lacking error   // why the first start found none
}

// again asks the user how to start after all. The error ends the program: they quit, or a model
// is not what is missing. Who reads by lines is not asked: the error says all that the screen
// would.
func (c *chooser) again(ctx context.Context, err error) (*options, error) {
	var none *models.MissingError
	if c.lacking == nil && (!errors.As(err, &none) || c.app.linesOnly(&c.given)) {
		return nil, err
	}
	if c.lacking == nil {
		c.lacking = err
	}
	next, failed := c.app.firstRun(ctx, err)
	switch {
	case failed != nil:
		return nil, failed
	case next == (api.Next{}):
		return nil, c.lacking
	}
	o := c.given.after(next)
	return &o, nil
}

// firstRun is the interface for who has no model that can be used. It returns how the user goes
// on; the zero value means that they quit.
func (a *app) firstRun(ctx context.Context, problem error) (api.Next, error) {
	cfg, find, err := a.Config()
	if err != nil {
		return api.Next{}, err
	}
	ui := tui.New(tui.Options{
		First: &firstrun.Offer{Problem: problem.Error(), Known: a.found(find.KeysOnly()), Look: a.look, Keys: login.Providers(find), Keep: a.keepKey},
		Ports: api.Ports{Switch: true, Models: func(ctx context.Context) ([]api.ModelRow, error) {
			l, err := a.lookAround(ctx)
			return modelpicker.Rows(l), err
		}},
		Info:  tui.Info{Version: Version},
		Theme: cfg.Interface.Theme, Inline: cfg.Interface.Inline, Vim: cfg.Interface.Keys == "vim", Keys: cfg.BoundKeys(),
		In: a.In, Out: a.Out, Env: a.Getenv,
	})
	err = ui.Run(ctx)
	return ui.Next(), err
}

// keepKey takes a key from the first screen.
func (a *app) keepKey(ctx context.Context, provider, key string) (string, error) {
	if err := a.byUser("a key"); err != nil {
		return "", err
	}
	_, find, err := a.Config()
	if err != nil {
		return "", err
	}
	taken, err := login.Desk{Find: find, Keep: a.Keys(), Hide: a.Hide}.Take(ctx, provider, key, login.Options{})
	return taken.Where, err
}

// after turns what the user chose into the options of the next start. The demo is the real one:
// nothing of the command line that was meant for their own folder holds in it.
func (o options) after(n api.Next) options {
	if n.Demo {
		return options{demo: true, transcript: o.transcript, plain: o.plain}
	}
	o.model = n.Model
	return o
}

// look asks again from the beginning: the configuration may have changed meanwhile.
func (a *app) look(ctx context.Context) (firstrun.Found, error) {
	l, err := a.lookAround(ctx)
	return a.found(l), err
}

func (a *app) lookAround(ctx context.Context) (models.Listing, error) {
	_, find, err := a.Config()
	if err != nil {
		return models.Listing{}, err
	}
	return modelpicker.Around(ctx, find), nil
}

func (a *app) found(l models.Listing) firstrun.Found {
	look := doctor.Doctor{Out: a.Out, Getenv: a.Getenv, Config: a.Config}
	return modelpicker.Found(l, append(look.Terminal(), look.File(config.File(a.Getenv, paths.Of(a.Getenv).Config))))
}

// defaults are the choices that hold for later sessions.
func (s settings) defaults() hostio.Defaults {
	return hostio.Defaults{File: s.file, May: func() error { return s.byUser("the configuration") }}
}

// keepModel writes down the model of a sitting, which can be used, and says so.
func keepModel(w *wired) string {
	full := w.head.Provider + "/" + w.head.Model
	if err := w.settings.defaults().Keep("model", full); err != nil {
		return fmt.Sprintf("%s is not kept as the default: %v", full, err)
	}
	return full + " is the default now, in " + w.settings.file
}
