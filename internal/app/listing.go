package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"adze/internal/catalog"
	"adze/internal/config"
	"adze/internal/llm/discover"
	"adze/internal/llm/ollama"
	"adze/internal/llm/wire"
)

// modelsCommand is adze models.
func (a *app) modelsCommand() *cobra.Command {
	c := &cobra.Command{Use: "models [FILTER] [--check] [--json]", Short: "List the models that can be used now, and what the others lack", Args: takes(0, 1),
		Long: `Shows which model a run would choose and why, each provider with its address and whether a key is set (never the key),
and what is known of its models. Only servers on this machine are asked (Ollama, llama.cpp, LM Studio, vLLM); --check asks every server that can be used.
With FILTER only models whose provider/name holds it are listed.`,
		Example: "  adze models\n  adze models qwen\n  adze models --check\n  adze models --json | jq .default",
		RunE: func(c *cobra.Command, words []string) error {
			return a.listModels(c.Context(), strings.Join(words, ""), flagged(c, "check"), flagged(c, "json"))
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
	Model     string   `json:"model"`
	Context   int      `json:"context,omitempty"` // of a request with its answer
	Running   int      `json:"running_context,omitempty"`
	Trained   int      `json:"trained_context,omitempty"`
	Output    int      `json:"output,omitempty"`
	Size      int64    `json:"size_bytes,omitempty"`
	Loaded    bool     `json:"loaded,omitempty"`
	Tools     *bool    `json:"tools"` // null: not known
	Vision    *bool    `json:"vision"`
	Thinking  *bool    `json:"thinking"`
	Documents *bool    `json:"documents"`
	Input     *float64 `json:"input_usd"` // of a million tokens
	Answer    *float64 `json:"output_usd"`
}

func (a *app) listModels(ctx context.Context, filter string, check, asJSON bool) error {
	cfg, err := config.Load(config.File(a.getenv, userPlaces(a.getenv).config))
	if err != nil {
		return err
	}
	l := a.listing(ctx, cfg, check).only(filter)
	if asJSON {
		a.showJSON(l)
		return nil
	}
	a.printListing(l)
	return nil
}

// listing looks at every provider; check asks the servers, also those of companies.
func (a *app) listing(ctx context.Context, cfg config.Config, check bool) (l listing) {
	all := a.endpoints(cfg)
	l.Providers = make([]listedProvider, len(all))
	var group sync.WaitGroup
	for i, e := range all {
		p := &l.Providers[i]
		*p = listedProvider{Provider: e.name, Endpoint: e.shown(), KeyEnv: e.keyEnv, Key: e.key != "", Models: []listedModel{}}
		group.Go(func() {
			if e.name == "ollama" {
				a.listOllama(ctx, cfg, p, check)
			} else {
				a.listHosted(ctx, cfg, e, p, check)
			}
		})
	}
	group.Wait()
	l.choose(a.configuredModel(cfg))
	if l.Default == nil && l.Problem == "" {
		if m, ok := a.running(ctx, cfg); ok {
			l.Default = &chosen{m.full(), m.origin}
		}
	}
	return l
}

// only keeps the models whose provider/name holds the text, and the providers that have one or are named so.
func (l listing) only(text string) listing {
	text = strings.ToLower(text)
	kept := []listedProvider{} // a script reads a list, also an empty one
	for _, p := range l.Providers {
		p.Models = slices.DeleteFunc(p.Models, func(m listedModel) bool {
			return !strings.Contains(strings.ToLower(p.Provider+"/"+m.Model), text)
		})
		if len(p.Models) > 0 || strings.Contains(p.Provider, text) {
			kept = append(kept, p)
		}
	}
	l.Providers = kept
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
func (a *app) listOllama(ctx context.Context, cfg config.Config, p *listedProvider, check bool) {
	if !check && !wire.Loopback(hostname(a.ollamaOptions(cfg).BaseURL)) {
		p.Why = "not on this machine; --check asks it"
		return
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
		one := a.listedAs(cfg, "ollama", discover.Model{
			Name: m.Name, Context: m.Context, Size: m.Size, Loaded: &m.Loaded, Tools: &m.Tools, Vision: &m.Vision, Thinking: &m.Thinking,
		})
		one.Running = m.Running // another one is set with each request
		p.Models = append(p.Models, one)
	}
}

func (a *app) listHosted(ctx context.Context, cfg config.Config, e endpoint, p *listedProvider, check bool) {
	usable := !e.missing()
	switch {
	case !usable:
		p.Usable, p.Why = &usable, "set "+e.keyEnv
	case check || e.near():
		a.listAsked(ctx, cfg, e, p)
	case !e.needsKey:
		p.Why = "--check asks whether it runs" // Usable stays unknown
	default:
		p.Usable, p.Why = &usable, "key in "+e.keyEnv
		a.listKnown(cfg, e, p)
	}
}

// listAsked asks the server. One of the person's own is of use when it has a model that can call tools.
func (a *app) listAsked(ctx context.Context, cfg config.Config, e endpoint, p *listedProvider) {
	models, err := e.server().Models(ctx)
	usable := err == nil
	p.Usable, p.Why = &usable, "answers"
	_, local := tells(e.name)
	switch _, can := pickLocal(models); {
	case err != nil && local && strings.HasSuffix(err.Error(), "connection refused"):
		p.Why = "not running"
	case err != nil && local:
		p.Why = "not usable: " + err.Error()
	case err != nil:
		p.Why = err.Error()
	case local && !can:
		usable, p.Why = false, "running, but tells of no model that can call tools; --model "+e.name+"/NAME uses one all the same"
	case local:
		p.Why = "running"
	}
	for _, m := range models {
		p.Models = append(p.Models, a.listedAs(cfg, e.name, m))
	}
}

// listKnown lists what the table knows, without asking.
func (a *app) listKnown(cfg config.Config, e endpoint, p *listedProvider) {
	known, err := catalog.Known()
	if err != nil {
		return
	}
	for _, r := range known {
		provider, name, _ := strings.Cut(r.Model, "/")
		if provider == e.name && (r.Until == "" || today() <= r.Until) && !p.has(name) {
			p.Models = append(p.Models, a.listedAs(cfg, provider, discover.Model{Name: name}))
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

// listedAs tells what is known of a model: what the person or the table says, else what its server does.
func (a *app) listedAs(cfg config.Config, provider string, told discover.Model) listedModel {
	m := listedModel{
		Model: told.Name, Context: told.Context, Trained: told.Trained, Output: told.Output, Size: told.Size, Loaded: isLoaded(told),
		Tools: told.Tools, Vision: told.Vision, Thinking: told.Thinking, Input: told.Input, Answer: told.Answer,
	}
	if r, ok := a.row(cfg, provider, told.Name); ok {
		m.Context, m.Output = cmp.Or(r.Context, m.Context), cmp.Or(r.Output, m.Output)
		m.Tools, m.Vision, m.Thinking, m.Documents = &r.Tools, &r.Vision, &r.Thinking, &r.Documents
		m.Input, m.Answer = r.Rate.Input, r.Rate.Output
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
	add(m.Trained > 0 && m.Trained != m.Context, "up to %d", m.Trained)
	add(m.Output > 0, "output %d", m.Output)
	if m.Tools != nil {
		add(true, "%s", map[bool]string{true: "tools", false: "no tools"}[*m.Tools])
	}
	add(m.Vision != nil && *m.Vision, "vision")
	add(m.Documents != nil && *m.Documents, "documents")
	add(m.Thinking != nil && *m.Thinking, "thinking")
	add(m.Loaded && m.Running == 0, "loaded")
	add(m.Loaded && m.Running > 0, "loaded with %d", m.Running)
	if m.Input != nil && m.Answer != nil {
		add(true, "$%s in, $%s out a million", amount(*m.Input), amount(*m.Answer))
	}
	return strings.Join(out, " · ")
}

func amount(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }
