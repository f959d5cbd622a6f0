package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"adze/internal/config"
	"adze/internal/doctor"
	"adze/internal/models"
	"adze/internal/place"
	"adze/tui"
	"adze/tui/firstrun"
	"adze/tui/port"
)

// suggested is the model that who has none is told to get: it calls tools, and fits into 8 GB.
const suggested = "qwen3:8b"

// maxModelSteps bounds the models that are offered as steps; the list of models holds all.
const maxModelSteps = 4

// chooser leads from a start that found no model to one that has one.
type chooser struct {
	app     *app
	given   options // of the command line
	lacking error   // why the first start found none
}

// again asks the person how to start after all. The error ends the program: they quit, or a model is not what
// is missing. Who reads by lines is not asked: the error says all that the screen would.
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
	case next == (port.Next{}):
		return nil, c.lacking
	}
	o := c.given.after(next)
	return &o, nil
}

// firstRun is the interface for who has no model that can be used. It returns how the person goes on; the
// zero value means that they quit.
func (a *app) firstRun(ctx context.Context, problem error) (port.Next, error) {
	cfg, err := a.load(config.File(a.Getenv, place.Of(a.Getenv).Config))
	if err != nil {
		return port.Next{}, err
	}
	ui := tui.New(tui.Options{
		First: &firstrun.Offer{Problem: problem.Error(), Known: a.found(a.models(cfg).KeysOnly()), Look: a.look},
		Ports: port.Ports{Switch: true, Models: func(ctx context.Context) ([]port.ModelRow, error) {
			l, err := a.lookAround(ctx)
			return rowsOf(l), err
		}},
		Info:  tui.Info{Version: Version},
		Theme: cfg.Interface.Theme, Inline: cfg.Interface.Inline, Vim: cfg.Interface.Keys == "vim",
		In: a.In, Out: a.Out, Env: a.Getenv,
	})
	err = ui.Run(ctx)
	return ui.Next(), err
}

// after turns what the person chose into the options of the next start. The demo is the real one: nothing of
// the command line that was meant for their own folder holds in it.
func (o options) after(n port.Next) options {
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
	cfg, err := a.load(config.File(a.Getenv, place.Of(a.Getenv).Config))
	if err != nil {
		return models.Listing{}, err
	}
	find := a.models(cfg)
	l := find.List(ctx, false)
	find.AskLocal(ctx, &l)
	return l, nil
}

// found tells a listing in the words of the first screen.
func (a *app) found(l models.Listing) firstrun.Found {
	f := firstrun.Found{Steps: a.steps(l)}
	var unset []string
	for _, p := range l.Providers {
		if p.Usable != nil && !*p.Usable && p.KeyEnv != "" && !p.Key {
			if p.Why == "set "+p.KeyEnv {
				unset = append(unset, p.KeyEnv)
				continue
			}
		}
		f.Findings = append(f.Findings, findingOf(p))
	}
	if len(unset) > 0 {
		f.Findings = append(f.Findings, firstrun.Finding{State: firstrun.Missing, Name: "keys", Text: "not set: " + strings.Join(unset, ", ")})
	}
	look := doctor.Doctor{Out: a.Out, Getenv: a.Getenv}
	at := config.File(a.Getenv, place.Of(a.Getenv).Config)
	for _, c := range append(look.Terminal(), look.File(at)) {
		f.Findings = append(f.Findings, firstrun.Finding{Name: c.Name, Text: c.Found})
	}
	return f
}

// findingOf tells a provider in the words of the first screen.
func findingOf(p models.ListedProvider) firstrun.Finding {
	f := firstrun.Finding{State: firstrun.Missing, Name: p.Provider, Text: p.Why + " · " + p.Endpoint}
	if p.Usable == nil || *p.Usable {
		f.State = firstrun.Fact
	}
	if p.Usable != nil && *p.Usable {
		f.State = firstrun.Usable
	}
	var names []string
	for _, m := range p.Models {
		if m.Tools != nil && !*m.Tools {
			names = append(names, m.Model+" (cannot call tools)")
			continue
		}
		names = append(names, m.Model)
	}
	if len(names) > maxModelSteps {
		names = append(names[:maxModelSteps], fmt.Sprintf("and %d more", len(names)-maxModelSteps))
	}
	if len(names) > 0 {
		f.Text += " · " + strings.Join(names, ", ")
	}
	return f
}

// steps are what to do next: a model that can be used, else the shortest way to one.
func (a *app) steps(l models.Listing) []firstrun.Step {
	var out []firstrun.Step
	for _, r := range rowsOf(l) {
		if r.Why == "" && len(out) < maxModelSteps {
			out = append(out, firstrun.Step{Do: "use " + r.Name, Means: cmp.Or(r.Note, "it can be used now"), Next: port.Next{Model: r.Name}})
		}
	}
	if len(out) == 0 {
		out = append(out, a.wayToLocal(l), firstrun.Step{Do: "export ANTHROPIC_API_KEY=…", Means: "or OPENAI_API_KEY, GEMINI_API_KEY; then start adze in that shell"})
		if out[0].Do == "" {
			out = out[1:]
		}
	}
	out = append(out, firstrun.Step{Do: "watch the demo", Means: "needs no model: adze --demo", Next: port.Next{Demo: true}})
	if len(l.Providers) > 0 && !ollamaRuns(l) && !hasProgram("ollama") {
		out = append(out, firstrun.Step{Do: "open https://ollama.com/download", Means: "a model on this machine: install it, then ollama pull " + suggested})
	}
	return out
}

// wayToLocal is what an Ollama that is there lacks; empty: there is none.
func (a *app) wayToLocal(l models.Listing) firstrun.Step {
	switch {
	case ollamaRuns(l):
		return firstrun.Step{Do: "ollama pull " + suggested, Means: "a model that can call tools (5 GB); then look again"}
	case hasProgram("ollama"):
		return firstrun.Step{Do: "ollama serve", Means: "Ollama is installed and does not run; then look again"}
	}
	return firstrun.Step{}
}

// ollamaRuns reports whether an Ollama answered.
func ollamaRuns(l models.Listing) bool {
	for _, p := range l.Providers {
		if p.Provider == "ollama" {
			return strings.HasPrefix(p.Why, "running")
		}
	}
	return false
}

func hasProgram(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}
