package app

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"adze/internal/catalog"
	"adze/internal/config"
	"adze/internal/llm/discover"
	"adze/internal/llm/ollama"
	"adze/internal/llm/wire"
)

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
		if m, ok, _ := a.running(ctx, cfg); ok {
			l.Default = &chosen{m.full(), m.origin}
		}
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
