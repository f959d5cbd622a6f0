package run

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"adze/internal/cmd/doctor"
	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/llm/login"
	"adze/internal/llm/models"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/hostio"
	"adze/internal/run/modelpicker"
	"adze/internal/run/settings"
	"adze/session/api"
	"adze/tui"
	"adze/tui/firstrun"
)

// chooser shows the setup screen after a start without a model.
type chooser struct {
	terminal *terminal
	given    flags.Run // command-line flags
	lacking  error     // the first start's error
}

// again asks the user how to start. It returns an error to end the program: the user quits, or the
// cause is not a missing model. A line-based interface is not asked, because the error has the same
// information.
func (c *chooser) again(ctx context.Context, err error) (*flags.Run, error) {
	var none *models.MissingError
	if c.lacking == nil && (!errors.As(err, &none) || c.terminal.linesOnly(&c.given)) {
		return nil, err
	}
	if c.lacking == nil {
		c.lacking = err
	}
	next, failed := c.terminal.firstRun(ctx, err)
	switch {
	case failed != nil:
		return nil, failed
	case next == (api.Next{}):
		return nil, c.lacking
	}
	o := after(c.given, next)
	return &o, nil
}

// firstRun shows the setup screen and returns the user's choice; the zero value means quit.
func (t *terminal) firstRun(ctx context.Context, problem error) (api.Next, error) {
	cfg, find, err := t.Config()
	if err != nil {
		return api.Next{}, err
	}
	ui := tui.New(tui.Options{
		First: &firstrun.Offer{Version: Version, Problem: problem.Error(), Initial: t.found(find.KeysOnly()), Look: t.look, Keys: keysOf(find), Keep: t.keepKey,
			KeepAddress: t.keepServer},
		Ports: api.Ports{Switch: true, Models: func(ctx context.Context) ([]api.ModelRow, error) {
			l, err := t.LookAround(ctx)
			return modelpicker.Rows(l), err
		}},
		Info:  tui.Info{Version: Version},
		Theme: cfg.Interface.Theme, Inline: cfg.Interface.Inline, Mouse: cfg.Interface.Mouse, Vim: cfg.Interface.Keys == "vim", Keys: cfg.BoundKeys(),
		In: t.In, PendingKeys: &t.PendingKeys, Out: t.Out, Env: t.Getenv, Copy: hostio.Copier(t.Getenv, ""),
	})
	err = ui.Run(ctx)
	ui.HandOn()
	return ui.Next(), err
}

// keysOf returns the providers that need a key, with the page to get one.
func keysOf(find *models.Finder) (out []firstrun.KeyOf) {
	for _, name := range login.Providers(find) {
		out = append(out, firstrun.KeyOf{Provider: name, Page: models.KeyPage(name)})
	}
	return out
}

// ownServer is the provider name for the user's own server.
const ownServer = "server"

// keepServer saves a server address from the setup screen.
func (t *terminal) keepServer(_ context.Context, address string) (string, error) {
	if err := t.ByUser("the configuration"); err != nil {
		return "", err
	}
	if host, _, _ := strings.Cut(address, ":"); host == "localhost" || host == "127.0.0.1" {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%s is not an address such as http://localhost:9000/v1", address)
	}
	if u.Path == "" { // with a slash at the end it stays as it is
		address += "/v1"
	}
	file := config.File(t.Getenv, paths.FromEnv(t.Getenv).Config)
	return settings.Short(t.Getenv("HOME"), file), config.Keep(file, "providers."+ownServer+".base_url", strings.TrimRight(address, "/"))
}

// keepKey saves a key from the setup screen.
func (t *terminal) keepKey(ctx context.Context, provider, key string) (string, error) {
	if err := t.ByUser("a key"); err != nil {
		return "", err
	}
	_, find, err := t.Config()
	if err != nil {
		return "", err
	}
	taken, err := login.Service{Find: find, Keep: t.Keys(), Hide: t.Hide}.Take(ctx, provider, key, login.Options{})
	return taken.Location, err
}

// after applies the user's choice to the flags. The demo ignores flags meant for the user's own
// folder.
func after(o flags.Run, n api.Next) flags.Run {
	if n.Demo {
		d := flags.New()
		d.Demo, d.Transcript, d.Plain = true, o.Transcript, o.Plain
		return d
	}
	o.Model = n.Model
	return o
}

// look repeats the detection with a fresh configuration.
func (t *terminal) look(ctx context.Context) (firstrun.Setup, error) {
	l, err := t.LookAround(ctx)
	return t.found(l), err
}

func (t *terminal) found(l models.Listing) firstrun.Setup {
	look := doctor.Doctor{Out: t.Out, Getenv: t.Getenv, Config: t.Config}
	return modelpicker.ForSetup(l, append(look.Terminal(), look.File(config.File(t.Getenv, paths.FromEnv(t.Getenv).Config))))
}

// keepModel saves the session's model as default and returns a message.
func keepModel(w *conversation.Conversation) string {
	full := w.Head.Provider + "/" + w.Head.Model
	if err := w.Settings.Keep("model", full); err != nil {
		return fmt.Sprintf("%s could not be made the default: %v", full, err)
	}
	return full + " is now the default, in " + settings.Short(w.Settings.Home, w.Settings.File)
}
