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

// List looks at every provider: it asks servers of this machine and those whose address the user
// gave; check asks those of companies, too.
func (f *Finder) List(ctx context.Context, check bool) Listing {
	l := f.ask(ctx, check)
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

// ask is the listing without the model that a start takes.
func (f *Finder) ask(ctx context.Context, check bool) (l Listing) {
	all := f.Endpoints()
	l.Providers = make([]ListedProvider, len(all))
	var group sync.WaitGroup
	for i, e := range all {
		p := &l.Providers[i]
		*p = ListedProvider{Provider: e.Name, Endpoint: e.Shown(), KeyEnv: e.KeyEnv, Key: e.Key != "", Models: []ListedModel{}}
		group.Go(func() {
			if list := e.own().list; list != nil {
				list(f, ctx, e, p)
			} else {
				f.listHosted(ctx, e, p, check)
			}
		})
	}
	group.Wait()
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

func (f *Finder) listOllama(ctx context.Context, e Endpoint, p *ListedProvider) {
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
	case check || !e.NeedsKey:
		ctx, cancel := context.WithTimeout(ctx, f.patience(localPatience))
		defer cancel()
		f.listAsked(ctx, e, p)
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
	var failed *session.ProviderError
	switch _, can := pickLocal(models); {
	case err != nil && local && strings.HasSuffix(err.Error(), "connection refused"):
		p.Why = "not running"
	case err != nil && local:
		p.Why = "not usable: " + err.Error()
	case errors.As(err, &failed) && failed.Kind == session.AuthError:
		p.Why = wantsKey + ": adze models login " + e.Name
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

// localPatience is how long a server may take to say what it has.
const localPatience = 5 * time.Second

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

// wantsKey begins the Why of a server that answers, but not without a key.
const wantsKey = "wants a key"

// WantsKey reports a server that answers, but not without a key, or not with the one that it got.
func (p ListedProvider) WantsKey() bool { return strings.HasPrefix(p.Why, wantsKey) }
