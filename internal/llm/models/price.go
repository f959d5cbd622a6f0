package models

import (
	"adze/internal/llm/local"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/config"
	"adze/internal/llm/catalog"
	"adze/session"
)

// rows are what is known of models: the user's own words first, then the table.
func (f *Finder) rows() ([]catalog.Row, error) {
	var own []catalog.Row
	for name, m := range f.config.Models {
		own = append(own, catalog.Row{
			Model: name, Context: m.Context, Output: m.Output, Rate: catalog.Rate(m.Price),
			Vision: m.Vision != nil && *m.Vision, Tools: m.Tools != nil && *m.Tools,
			Source: f.config.Origin("models"),
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

// row finds what is known of a model. The table tells the prices of the companies themselves: of
// another server with models of the same name, only the configuration tells any.
func (f *Finder) row(provider, model string) (catalog.Row, bool) {
	all, err := f.rows()
	if err != nil {
		return catalog.Row{}, false
	}
	if v, _ := vendor(provider); v.SameServerAs != "" {
		provider = v.SameServerAs // one server, two formats
	}
	full := provider + "/" + model
	if _, own := catalog.Find(all[:len(f.config.Models)], full, today()); !own && !f.AtHome(provider) {
		return catalog.Row{}, false
	}
	return catalog.Find(all, full, today())
}

// own is what the user says of a model; the rest is zero.
func (f *Finder) own(provider, model string) config.Model {
	all, err := f.rows()
	if err != nil {
		return config.Model{}
	}
	row, _ := catalog.Find(all[:len(f.config.Models)], provider+"/"+model, today())
	return f.config.Models[row.Model]
}

// tools say whether a model takes no tools: the user's word goes before the one of its server,
// which may be nil.
func (f *Finder) tools(e Endpoint, model string, server func(context.Context, string) bool) local.Tools {
	if takes := f.own(e.Name, model).Tools; takes != nil {
		return local.Tools{Toolless: func(_ context.Context, of string) bool { return of == model && !*takes }}
	}
	t := local.Tools{Toolless: server, Findings: f.findings, Address: e.base}
	if e.own() != nil {
		t.Findings = nil // an Ollama says so itself, and the next pull may bring tools
	}
	return t
}

func today() string { return time.Now().Format(time.DateOnly) }

// Prices tells a session what its requests cost. Nothing is read before the first one was made.
func (f *Finder) Prices() func(provider, model string, u session.Usage) (float64, bool) {
	type known struct {
		row catalog.Row
		ok  bool
	}
	var seen sync.Map // a session has few models, and asks for each request
	return func(provider, model string, u session.Usage) (float64, bool) {
		kept, hit := seen.Load(provider + "/" + model)
		if !hit {
			var k known
			k.row, k.ok = f.row(provider, model)
			kept, _ = seen.LoadOrStore(provider+"/"+model, k)
		}
		k := kept.(known)
		usd, priced := k.row.Cost(catalog.Tokens{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
		return usd, k.ok && priced
	}
}

// Blind tells a session whether a model is known to take no pictures: the user says so, or the
// table, or the server of one's own.
func (f *Finder) Blind(m Model) func(provider, model string) bool {
	var seen sync.Map // asked for with each request that has pictures
	return func(provider, model string) bool {
		if sees := f.own(provider, model).Vision; sees != nil {
			return !*sees
		}
		if m.window != nil && provider == m.Provider.Name() && model == m.Name && m.window.blind(context.Background()) {
			return true
		}
		kept, hit := seen.Load(provider + "/" + model)
		if !hit {
			row, ok := f.row(provider, model)
			_, own := f.config.Models[row.Model]
			kept, _ = seen.LoadOrStore(provider+"/"+model, ok && !own && !row.Vision)
		}
		return kept.(bool)
	}
}

// Priced reports whether it is known what a model costs.
func (f *Finder) Priced(m Model) bool {
	row, ok := f.row(m.Provider.Name(), m.Name)
	return ok && row.Priced()
}
