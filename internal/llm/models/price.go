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

// rows returns the user's rows, then the table.
func (f *Finder) rows() ([]catalog.Row, error) {
	var own []catalog.Row
	for name, m := range f.config.Models {
		own = append(own, catalog.Row{
			Model: name, Context: m.Context, Output: m.Output, Rate: catalog.Rate(m.Price),
			Vision: m.Vision != nil && *m.Vision, Tools: m.Tools != nil && *m.Tools,
			Source: f.config.Origin("models"),
		})
	}
	// The longest name is the most exact: ollama/qwen3 before ollama/*.
	slices.SortFunc(own, func(a, b catalog.Row) int {
		if n := len(b.Model) - len(a.Model); n != 0 {
			return n
		}
		return strings.Compare(a.Model, b.Model)
	})
	known, err := catalog.Rows()
	return append(own, known...), err
}

// row returns a model's row. Prices in the table are the companies' own; for another server with
// the same model names, only the configuration has prices.
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

// own returns the user's settings for a model, or the zero value.
func (f *Finder) own(provider, model string) config.Model {
	all, err := f.rows()
	if err != nil {
		return config.Model{}
	}
	row, _ := catalog.Find(all[:len(f.config.Models)], provider+"/"+model, today())
	return f.config.Models[row.Model]
}

// tools reports whether a model takes no tools: the user's setting overrides the server's, which
// may be nil.
func (f *Finder) tools(e Endpoint, model string, server func(context.Context, string) bool) local.Tools {
	if takes := f.own(e.Name, model).Tools; takes != nil {
		return local.Tools{Toolless: func(_ context.Context, of string) bool { return of == model && !*takes }}
	}
	t := local.Tools{Toolless: server, Findings: f.findings, Address: e.base}
	if e.specialConstructor() != nil {
		t.Findings = nil // an Ollama reports it itself, and the next pull may bring tools
	}
	return t
}

func today() string { return time.Now().Format(time.DateOnly) }

// Prices returns a function for request costs. The table is read on its first call.
func (f *Finder) Prices() func(provider, model string, u session.Usage) (float64, bool) {
	type known struct {
		row catalog.Row
		ok  bool
	}
	var seen sync.Map // asked for each request, and a session has few models
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

// RejectsImages returns a function that reports whether a model is known to take no images: by the
// user's settings, the table, or the local server.
func (f *Finder) RejectsImages(m Model) func(provider, model string) bool {
	var seen sync.Map // asked for each request with images
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

// Priced reports whether a model's price is known.
func (f *Finder) Priced(m Model) bool {
	row, ok := f.row(m.Provider.Name(), m.Name)
	return ok && row.Priced()
}
