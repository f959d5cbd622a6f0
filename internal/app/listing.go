package app

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/catalog"
	"adze/internal/config"
	"adze/internal/llm/ollama"
	"adze/internal/llm/wire"
)

// modelsCommand is adze models.
func (a *app) modelsCommand() *cobra.Command {
	c := &cobra.Command{Use: "models [--check] [--json]", Short: "List the models that can be used now, and what the others lack", Args: takes(0, 0),
		Long: `Shows which model a run would choose and why, each provider with its address and whether a key is set (never the key),
and what is known of its models. Only an Ollama on this machine is asked; --check asks every server that can be used.`,
		Example: "  adze models\n  adze models --check\n  adze models --json | jq .default",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.listModels(c.Context(), flagged(c, "check"), flagged(c, "json"))
		}}
	c.Flags().Bool("check", false, "ask the servers, also those of companies")
	c.Flags().Bool("json", false, "as one JSON object")
	c.SetFlagErrorFunc(flagError)
	return c
}

// listing is what adze models says.
type listing struct {
	Default   *chosen          `json:"default"`
	Problem   string           `json:"problem,omitempty"` // why there is no default
	Providers []listedProvider `json:"providers"`
}

type chosen struct {
	Model  string `json:"model"`
	Origin string `json:"origin"`
}

type listedProvider struct {
	Provider string        `json:"provider"`
	Endpoint string        `json:"endpoint"`
	KeyEnv   string        `json:"key_env,omitempty"`
	Key      bool          `json:"key"`    // set
	Usable   *bool         `json:"usable"` // null: nobody asked
	Why      string        `json:"why"`
	Models   []listedModel `json:"models"`
}

type listedModel struct {
	Model   string   `json:"model"`
	Context int      `json:"context,omitempty"`
	Output  int      `json:"output,omitempty"`
	Size    int64    `json:"size_bytes,omitempty"`
	Loaded  bool     `json:"loaded,omitempty"`
	Tools   *bool    `json:"tools"` // null: not known
	Vision  *bool    `json:"vision"`
	Input   *float64 `json:"input_usd"` // of a million tokens
	Answer  *float64 `json:"output_usd"`
}

func (a *app) listModels(ctx context.Context, check, asJSON bool) error {
	cfg, err := config.Load(config.File(a.getenv, userPlaces(a.getenv).config))
	if err != nil {
		return err
	}
	l := a.listing(ctx, cfg, check)
	if asJSON {
		a.showJSON(l)
		return nil
	}
	a.printListing(l)
	return nil
}

// listing looks at every provider; check asks the servers, also those of companies.
func (a *app) listing(ctx context.Context, cfg config.Config, check bool) (l listing) {
	var local []ollama.Model
	for _, e := range a.endpoints(cfg) {
		p := listedProvider{Provider: e.name, Endpoint: e.shown(), KeyEnv: e.keyEnv, Key: e.key != "", Models: []listedModel{}}
		if e.name == "ollama" {
			local = a.listOllama(ctx, cfg, &p, check)
		} else {
			a.listHosted(ctx, cfg, e, &p, check)
		}
		l.Providers = append(l.Providers, p)
	}
	l.choose(a.configuredModel(cfg))
	if best, ok := ollama.Pick(local); ok && l.Default == nil && l.Problem == "" {
		l.Default = &chosen{"ollama/" + best.Name, "running Ollama"}
	}
	return l
}

func (l *listing) choose(m model, ok bool, err error) {
	switch {
	case err != nil:
		l.Problem = err.Error()
	case ok:
		l.Default = &chosen{m.full(), m.origin}
	}
}

// listOllama asks a server on this machine, or any with --check.
func (a *app) listOllama(ctx context.Context, cfg config.Config, p *listedProvider, check bool) []ollama.Model {
	if !check && !wire.Loopback(hostname(a.ollamaOptions(cfg).BaseURL)) {
		p.Why = "not on this machine; --check asks it"
		return nil
	}
	models, err := a.installed(ctx, cfg)
	_, can := ollama.Pick(models)
	p.Usable = &can
	switch {
	case err != nil:
		p.Why = "not running: " + err.Error()
	case !can:
		p.Why = "running, but none of its models can call tools: ollama pull one that can"
	default:
		p.Why = "running"
	}
	for _, m := range models {
		p.Models = append(p.Models, listedModel{Model: m.Name, Context: m.Context, Size: m.Size, Loaded: m.Loaded, Tools: &m.Tools, Vision: &m.Vision})
	}
	return models
}

func (a *app) listHosted(ctx context.Context, cfg config.Config, e endpoint, p *listedProvider, check bool) {
	usable := !e.missing()
	switch {
	case !usable:
		p.Usable, p.Why = &usable, "set "+e.keyEnv
		return
	case check:
		names, err := e.ask(ctx)
		usable = err == nil
		p.Usable, p.Why = &usable, "answers"
		if err != nil {
			p.Why = err.Error()
		}
		for _, name := range names {
			p.Models = append(p.Models, a.listedAs(cfg, e.name, name))
		}
		return
	case !e.needsKey:
		p.Why = "--check asks whether it runs" // Usable stays unknown
		return
	}
	p.Usable, p.Why = &usable, "key in "+e.keyEnv
	known, err := catalog.Known()
	if err != nil {
		return
	}
	for _, r := range known {
		provider, name, _ := strings.Cut(r.Model, "/")
		if provider == e.name && (r.Until == "" || today() <= r.Until) && !p.has(name) {
			p.Models = append(p.Models, a.listedAs(cfg, provider, name))
		}
	}
}

func (p listedProvider) has(name string) bool {
	for _, m := range p.Models {
		if m.Model == name {
			return true
		}
	}
	return false
}

// listedAs tells what is known of a model.
func (a *app) listedAs(cfg config.Config, provider, name string) listedModel {
	m := listedModel{Model: name}
	if r, ok := a.row(cfg, provider, name); ok {
		m.Context, m.Output, m.Tools, m.Vision, m.Input, m.Answer = r.Context, r.Output, &r.Tools, &r.Vision, r.Rate.Input, r.Rate.Output
	}
	return m
}

func (a *app) printListing(l listing) {
	switch {
	case l.Default != nil:
		a.show("default: %s (from %s)\n\n", l.Default.Model, l.Default.Origin)
	case l.Problem != "":
		a.show("default: none: %s\n\n", l.Problem)
	default:
		a.show("default: none; the ways to one:\n  %s\n\n", strings.ReplaceAll(waysToAModel(a.getenv), "\n", "\n  "))
	}
	for _, p := range l.Providers {
		state := "unknown"
		if p.Usable != nil {
			state = map[bool]string{true: "usable", false: "no"}[*p.Usable]
		}
		a.show("%-11s %-8s %s · %s\n", p.Provider, state, p.Why, p.Endpoint)
		for _, m := range p.Models {
			a.show("  %s\n", m)
		}
	}
}

// String is one line for a person: what is not known is not said.
func (m listedModel) String() string {
	out := []string{m.Model}
	add := func(is bool, format string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(m.Size > 0, "%.1f GB", float64(m.Size)/1e9)
	add(m.Context > 0, "context %d", m.Context)
	add(m.Output > 0, "output %d", m.Output)
	if m.Tools != nil {
		add(true, "%s", map[bool]string{true: "tools", false: "no tools"}[*m.Tools])
	}
	add(m.Vision != nil && *m.Vision, "vision")
	add(m.Loaded, "loaded")
	if m.Input != nil && m.Answer != nil {
		add(true, "$%s in, $%s out a million", amount(*m.Input), amount(*m.Answer))
	}
	return strings.Join(out, " · ")
}

func amount(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }
