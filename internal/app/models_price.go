package app

import (
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/catalog"
	"adze/internal/config"
	"adze/internal/llm/anthropic"
	"adze/internal/llm/gemini"
	"adze/prompts"
	"adze/session"
)

// rows are what is known of models: the person's own words first, then the table.
func rows(cfg config.Config) ([]catalog.Row, error) {
	var own []catalog.Row
	for name, m := range cfg.Models {
		own = append(own, catalog.Row{
			Model: name, Context: m.Context, Output: m.Output, Vision: m.Vision, Tools: m.Tools, Rate: catalog.Rate(m.Price),
			Source: cfg.Origin("models"),
		})
	}
	// The longest name is the most exact one: ollama/qwen3 before ollama/*.
	slices.SortFunc(own, func(a, b catalog.Row) int {
		if n := len(b.Model) - len(a.Model); n != 0 {
			return n
		}
		return strings.Compare(a.Model, b.Model)
	})
	known, err := catalog.Known()
	return append(own, known...), err
}

// row finds what is known of a model. The table tells the prices of the companies themselves: of another
// server with models of the same name, only the configuration tells any.
func (a *app) row(cfg config.Config, provider, model string) (catalog.Row, bool) {
	all, err := rows(cfg)
	if err != nil {
		return catalog.Row{}, false
	}
	if provider == "responses" {
		provider = "openai" // one server, two formats
	}
	full := provider + "/" + model
	if _, own := catalog.Find(all[:len(cfg.Models)], full, today()); !own && !a.atHome(cfg, provider) {
		return catalog.Row{}, false
	}
	return catalog.Find(all, full, today())
}

func today() string { return time.Now().Format(time.DateOnly) }

// atHome reports whether a provider is asked at its company's own address.
func (a *app) atHome(cfg config.Config, provider string) bool {
	at := func(address, home string) bool { return address == "" || hostname(address) == home }
	switch provider {
	case "anthropic":
		o, _ := anthropic.FromEnv(a.getenv)
		return at(base(cfg.Providers[provider], o.BaseURL), "api.anthropic.com")
	case "gemini":
		o, _ := gemini.FromEnv(a.getenv)
		return at(base(cfg.Providers[provider], o.BaseURL), "generativelanguage.googleapis.com")
	case "openai":
		h, err := a.host(cfg, provider)
		return err == nil && hostname(h.base) == "api.openai.com"
	}
	return true
}

// prices tells a session what its requests cost. Nothing is read before the first one was made.
func (a *app) prices(cfg config.Config) func(provider, model string, u session.Usage) (float64, bool) {
	type found struct {
		row catalog.Row
		ok  bool
	}
	var seen sync.Map // a session has few models, and asks for each request
	return func(provider, model string, u session.Usage) (float64, bool) {
		kept, hit := seen.Load(provider + "/" + model)
		if !hit {
			var f found
			f.row, f.ok = a.row(cfg, provider, model)
			kept, _ = seen.LoadOrStore(provider+"/"+model, f)
		}
		f := kept.(found)
		usd, known := f.row.Cost(catalog.Tokens{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
		return usd, f.ok && known
	}
}

// pieces tells the parts of a system prompt apart.
func pieces(system string) []session.Piece {
	var out []session.Piece
	for _, p := range prompts.Split(system) {
		out = append(out, session.Piece(p))
	}
	return out
}

// affordable refuses a limit in money that nobody could hold.
func (a *app) affordable(o *options, cfg config.Config, m model) error {
	if o.maxCost == 0 {
		return nil
	}
	if row, ok := a.row(cfg, m.provider.Name(), m.name); ok && row.Priced() {
		return nil
	}
	file := config.File(a.getenv, userPlaces(a.getenv).config)
	return misuse(`write down what a million tokens cost: {"models": {"`+m.full()+`": {"price": {"input": 3, "output": 15}}}} in `+file,
		"--max-cost cannot be held: the price of %s is not known", m.full())
}
