package models

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"adze/internal/llm/catalog"
	"adze/internal/llm/local"
	"adze/internal/llm/ollama"
	"adze/session"
	"adze/tool"
)

// List looks at every provider; check asks the servers, also those of companies.
func (f *Finder) List(ctx context.Context, check bool) (l Listing) {
	all := f.Endpoints()
	l.Providers = make([]ListedProvider, len(all))
	var group sync.WaitGroup
	for i, e := range all {
		p := &l.Providers[i]
		*p = ListedProvider{Provider: e.Name, Endpoint: e.Shown(), KeyEnv: e.KeyEnv, Key: e.Key != "", Models: []ListedModel{}}
		group.Go(func() {
			if list := e.own().list; list != nil {
				list(f, ctx, e, p, check)
			} else {
				f.listHosted(ctx, e, p, check)
			}
		})
	}
	group.Wait()
	l.choose(f.Configured())
	if l.Default == nil {
		if m, err := f.Choose(ctx); err == nil {
			l.Default, l.Problem = &Chosen{m.Full(), m.Origin}, ""
		}
	}
	if p, m, ok := l.lacking(); ok && check {
		var have []local.Model
		for _, known := range p.Models {
			have = append(have, local.Model{Name: known.Model})
		}
		l.Problem = p.Provider + " does not list " + m + "; " + Endpoint{Vendor: Vendor{Name: p.Provider}}.Like(m, have)
	}
	return l
}

// lacking finds the default among what its provider listed; true: it is not there.
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

// Like asks whether a model of the server was meant by a name that it does not list.
func (e Endpoint) Like(model string, listed []local.Model) string {
	var have []string
	for _, m := range listed {
		have = append(have, m.Name)
	}
	if near := tool.Nearest(model, have, 3); len(near) > 0 {
		return "did you mean " + e.Name + "/" + strings.Join(near, " or "+e.Name+"/") + "?"
	}
	return "adze models " + e.Name + " --check lists what it has"
}

func (l *Listing) choose(m Model, ok bool, err error) {
	switch {
	case err != nil:
		l.Problem = err.Error()
	case ok:
		l.Default = &Chosen{m.Full(), m.Origin}
	}
}

// listOllama asks a server on this machine, or any with --check.
func (f *Finder) listOllama(ctx context.Context, e Endpoint, p *ListedProvider, check bool) {
	if !check && !e.loopback() {
		p.Why = "not on this machine; --check asks it"
		return
	}
	models, err := f.installed(ctx, ollama.New(e.options()))
	_, can := ollama.Pick(models)
	p.Usable = &can
	switch {
	case err != nil && strings.HasSuffix(err.Error(), "connection refused"):
		p.Why = "not running"
	case err != nil:
		p.Why = "not running: " + err.Error()
	case !can:
		p.Why = "running, but none of its models can call tools: " + e.Fetch.Of("one that can")
	default:
		p.Why = "running"
	}
	for _, m := range models {
		one := f.Describe(e.Name, local.Model{
			Name: m.Name, Context: m.Context, Size: m.Size, Loaded: &m.Loaded, Tools: &m.Tools, Vision: &m.Vision, Thinking: &m.Thinking,
		})
		one.Running = m.Running // another one is set with each request
		p.Models = append(p.Models, one)
	}
}

func (f *Finder) listHosted(ctx context.Context, e Endpoint, p *ListedProvider, check bool) {
	usable := !e.Missing()
	switch {
	case !usable:
		p.Usable, p.Why = &usable, e.lack()
	case check || e.near():
		f.listAsked(ctx, e, p)
	case !e.NeedsKey:
		p.Why = "--check asks whether it runs" // Usable stays unknown
	default:
		p.Usable, p.Why = &usable, "key in "+e.KeyEnv
		f.listKnown(e, p)
	}
}

// listAsked asks the server. One of the user's own is of use when it has a model that can call
// tools.
func (f *Finder) listAsked(ctx context.Context, e Endpoint, p *ListedProvider) {
	models, err := e.Server().Models(ctx)
	usable := err == nil
	p.Usable, p.Why = &usable, "answers"
	local := e.Tells != local.Any
	switch _, can := pickLocal(models); {
	case err != nil && local && strings.HasSuffix(err.Error(), "connection refused"):
		p.Why = "not running"
	case err != nil && local:
		p.Why = "not usable: " + err.Error()
	case err != nil:
		p.Why = err.Error()
	case local && !can:
		usable, p.Why = false, "running, but tells of no model that can call tools; --model "+e.Name+"/NAME uses one anyway"
	case local:
		p.Why = "running"
	}
	for _, m := range models {
		p.Models = append(p.Models, f.Describe(e.Name, m))
	}
}

// listKnown lists what the table knows, without asking.
func (f *Finder) listKnown(e Endpoint, p *ListedProvider) {
	known, err := catalog.Known()
	if err != nil {
		return
	}
	for _, r := range known {
		provider, name, _ := strings.Cut(r.Model, "/")
		if provider == e.Name && (r.Until == "" || today() <= r.Until) && !p.has(name) {
			p.Models = append(p.Models, f.Describe(provider, local.Model{Name: name}))
		}
	}
}

// Describe tells what is known of a model: what the user or the table says, else what its server
// does.
func (f *Finder) Describe(provider string, told local.Model) ListedModel {
	m := ListedModel{
		Model: told.Name, Context: told.Context, Trained: told.Trained, Output: told.Output, Size: told.Size, Loaded: isLoaded(told),
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

// localPatience is how long a server on this machine may take to say what it has.
const localPatience = 2 * time.Second

// KeysOnly is the listing without asking anybody.
func (f *Finder) KeysOnly() Listing {
	var l Listing
	for _, e := range f.Endpoints() {
		p := ListedProvider{Provider: e.Name, Endpoint: e.Shown(), KeyEnv: e.KeyEnv, Key: e.Key != "", Why: "not asked yet"}
		switch {
		case e.Missing():
			p.Usable, p.Why = new(bool), e.lack()
		case e.NeedsKey:
			p.Why = "key in " + e.From()
		}
		l.Providers = append(l.Providers, p)
	}
	return l
}

// AskLocal asks the servers of this machine that nobody asked yet, all at once.
func (f *Finder) AskLocal(ctx context.Context, l *Listing) {
	ctx, cancel := context.WithTimeout(ctx, f.patience(localPatience))
	defer cancel()
	var asked sync.WaitGroup
	for _, e := range f.Endpoints() {
		for i := range l.Providers {
			p := &l.Providers[i]
			if p.Provider != e.Name || p.Usable != nil || e.NeedsKey || !e.loopback() {
				continue
			}
			asked.Go(func() { f.askOne(ctx, e, p) })
		}
	}
	asked.Wait()
}

func (f *Finder) askOne(ctx context.Context, e Endpoint, p *ListedProvider) {
	models, err := e.Server().Models(ctx)
	usable := err == nil
	p.Usable, p.Why = &usable, "running"
	var failed *session.ProviderError
	switch {
	case errors.As(err, &failed) && failed.Kind == session.AuthError:
		p.Why = "wants a key: adze models login " + e.Name
	case err != nil:
		p.Why = "not running"
	}
	for _, m := range models {
		p.Models = append(p.Models, f.Describe(e.Name, m))
	}
}
