package models

import (
	"cmp"
	"context"
	"strings"

	"adze/internal/llm/catalog"
	"adze/internal/llm/local"
	"adze/tool"
)

// List describes every provider. It queries servers on this machine and at the user's addresses; if
// check is set, companies too.
func (f *Finder) List(ctx context.Context, check bool) Listing {
	l, start := f.ask(ctx, check)
	m, ok, err := f.Configured()
	if ok && err != nil {
		l.Problem = err.Error()
		m, err = f.nearby(func() Listing { return l }, err)
		m.Origin = f.config.Origin("model")
	} else if !ok {
		m, ok = start, start.Provider != nil
	}
	if ok && err == nil {
		l.Default, l.Problem = &Selection{m.Full(), m.Origin}, ""
	}
	if p, m, ok := l.lacking(); ok && check {
		var have []local.Model
		for _, known := range p.Models {
			have = append(have, local.Model{Name: known.Model})
		}
		l.Problem = p.Provider + " does not list " + m + "; " + Endpoint{Vendor: Vendor{Name: p.Provider}}.Suggest(m, have)
	}
	return l
}

// ask returns the listing without its default, and the local model that a start would use.
func (f *Finder) ask(ctx context.Context, check bool) (l Listing, start Model) {
	for _, answer := range f.look(ctx, check, f.patience(givenPatience)) {
		found := <-answer
		l.Providers = append(l.Providers, found.ListedProvider)
		if start.Provider == nil {
			start, _ = f.start(found)
		}
	}
	return l, start
}

// lacking reports whether the default is missing from its provider's list.
func (l Listing) lacking() (p ListedProvider, model string, lacks bool) {
	if l.Default == nil {
		return p, "", false
	}
	provider, model, _ := strings.Cut(l.Default.Model, "/")
	for _, p := range l.Providers {
		if p.Provider == provider {
			return p, model, len(p.Models) > 0 && !p.has(model) && !p.has(model+":latest")
		}
	}
	return p, model, false
}

// Suggest suggests a listed model similar to an unknown name.
func (e Endpoint) Suggest(model string, listed []local.Model) string {
	var have []string
	for _, m := range listed {
		have = append(have, m.Name)
	}
	if near := tool.Nearest(model, have, 3); len(near) > 0 {
		return "did you mean " + e.Name + "/" + strings.Join(near, " or "+e.Name+"/") + "?"
	}
	return "adze models " + e.Name + " --check lists what it has"
}

// listKnown adds the models in the table, without a query.
func (f *Finder) listKnown(e Endpoint, p *ListedProvider) {
	known, err := catalog.Rows()
	if err != nil {
		return
	}
	for _, r := range known {
		provider, name, _ := strings.Cut(r.Model, "/")
		if provider == e.Name && (r.ValidUntil == "" || today() <= r.ValidUntil) && !p.has(name) {
			p.Models = append(p.Models, f.Describe(provider, local.Model{Name: name}))
		}
	}
}

// Describe merges the known facts about a model: the user's settings and the table override its
// server.
func (f *Finder) Describe(provider string, told local.Model) ListedModel {
	m := ListedModel{
		Model: told.Name, Context: told.Context, Trained: told.Trained, Output: told.Output, Size: told.Size, Loaded: isLoaded(told), Running: told.Running,
		Tools: told.Tools, Vision: told.Vision, Thinking: told.Thinking, Input: told.Input, Answer: told.Answer,
	}
	if r, ok := f.row(provider, told.Name); ok {
		m.Context, m.Output = cmp.Or(r.Context, m.Context), cmp.Or(r.Output, m.Output)
		if own, given := f.config.Models[r.Model]; given {
			m.Tools, m.Vision = cmp.Or(own.Tools, m.Tools), cmp.Or(own.Vision, m.Vision)
		} else {
			m.Tools, m.Vision, m.Thinking, m.Documents = &r.Tools, &r.Vision, &r.Thinking, &r.Documents
		}
		m.Input, m.Answer = r.Rate.Input, r.Rate.Output
	}
	return m
}

// KeysOnly returns the listing without any query.
func (f *Finder) KeysOnly() Listing {
	var l Listing
	for _, e := range f.Endpoints() {
		p := ListedProvider{Provider: e.Name, Endpoint: e.DisplayURL(), KeyEnv: e.KeyEnv, Key: e.Key != "", Reason: "not asked yet"}
		switch {
		case e.Incomplete():
			p.Usable, p.Reason = new(bool), e.lack()
		case e.Cloud != "":
			p.Reason = e.signsIn()
		case e.NeedsKey:
			p.Reason = "key in " + e.KeySource()
		}
		l.Providers = append(l.Providers, p)
	}
	return l
}
