package models

import (
	"context"
	"sync"
	"time"
)

// localPatience is how long a server on this machine may take to say what it has.
const localPatience = 2 * time.Second

// KeysOnly is the listing without asking anybody.
func (f *Finder) KeysOnly() Listing {
	var l Listing
	for _, e := range f.Endpoints() {
		p := ListedProvider{Provider: e.Name, Endpoint: e.Shown(), KeyEnv: e.KeyEnv, Key: e.Key != "", Why: "not asked yet"}
		switch {
		case e.Missing():
			p.Usable, p.Why = new(bool), "set "+e.KeyEnv
		case e.NeedsKey:
			p.Why = "key in " + e.KeyEnv
		}
		l.Providers = append(l.Providers, p)
	}
	return l
}

// AskLocal asks the servers of this machine that nobody asked yet, all at once.
func (f *Finder) AskLocal(ctx context.Context, l *Listing) {
	ctx, cancel := context.WithTimeout(ctx, localPatience)
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
	if err != nil {
		p.Why = "not running"
	}
	for _, m := range models {
		p.Models = append(p.Models, f.Describe(e.Name, m))
	}
}
