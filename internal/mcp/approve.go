package mcp

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"adze/tool"
)

// load returns the approved catalogue, reading it from disk on first use, or nil if the server was
// never seen. The caller holds v.mu.
func (v *server) load() *Catalogue {
	if !v.loaded {
		v.loaded = true
		if dir := v.pool.opts.State; dir != "" {
			v.approved = loadCatalogue(v.conf.file(dir))
		}
	}
	return v.approved
}

// listed returns the catalogue for tool lists, or nil if the server is hidden or was never seen.
// The caller holds v.mu.
func (v *server) listed() *Catalogue {
	if v.hidden {
		return nil
	}
	return v.load()
}

// update stores the catalogue of a server that started or changed its list. The first catalogue is
// approved with the server itself; later changes wait for the user, unless they only remove tools.
func (v *server) update(now *Catalogue) {
	v.current, v.change = now, Change{}
	old := v.load()
	if old != nil {
		if c := changes(v.conf.Name, old, now); c.Any() && !v.conf.SkipPinning {
			v.change = c
			return
		}
	}
	v.approve()
}

// approve makes the current catalogue the approved one. The caller holds v.mu.
func (v *server) approve() {
	same := v.approved != nil && slices.EqualFunc(v.approved.Tools, v.current.Tools, func(a, b Tool) bool { return a.Pin == b.Pin })
	v.approved, v.change = v.current, Change{}
	if !same {
		v.pool.generation.Add(1)
	}
	if dir := v.pool.opts.State; dir != "" {
		KeepState(v.conf.file(dir), v.approved)
	}
}

// locked calls do with the named server, if it exists, holding its lock.
func (p *Pool) locked(name string, do func(v *server)) {
	if v := p.servers[name]; v != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		do(v)
	}
}

// Hide removes servers from all tool lists until Show.
func (p *Pool) Hide(names ...string) {
	for _, name := range names {
		p.locked(name, func(v *server) { v.hidden = true })
	}
}

// Show lists a hidden server again.
func (p *Pool) Show(name string) {
	p.locked(name, func(v *server) { v.hidden = false })
	p.generation.Add(1)
}

// Shares reports whether the server had prompts or resources when it last ran. It starts nothing.
func (p *Pool) Shares(name string) (prompts, resources bool) {
	p.locked(name, func(v *server) {
		if c := v.listed(); c != nil {
			prompts, resources = c.Prompts, c.Resources
		}
	})
	return prompts, resources
}

// Generation returns a number that changes with the result of Tools.
func (p *Pool) Generation() int64 { return p.generation.Load() }

// Unseen returns the servers whose tools are not known yet.
func (p *Pool) Unseen() (out []string) {
	for _, name := range p.order {
		p.locked(name, func(v *server) {
			if !v.hidden && v.load() == nil && v.conf.Err == nil && v.state.State != Failed && v.state.State != Held {
				out = append(out, name)
			}
		})
	}
	return out
}

// Catalogue returns the catalogue that the user approved, or nil if the server was never seen.
func (p *Pool) Catalogue(name string) (c *Catalogue) {
	p.locked(name, func(v *server) { c = v.load() })
	return c
}

// Pending returns the difference between a running server's catalogue and the approved one.
func (p *Pool) Pending(name string) (c Change) {
	p.locked(name, func(v *server) { c = v.change })
	return c
}

// Accept approves a change as it was shown. It fails if the server has changed again since.
func (p *Pool) Accept(c Change) error {
	err := ErrUnknown
	p.locked(c.Server, func(v *server) {
		if err = nil; c.Hash != v.change.Hash {
			err = fmt.Errorf("%s says something else again; look at it once more", c.Server)
		} else if v.current != nil {
			v.approve()
		}
	})
	if err == nil {
		p.changed(c.Server)
	}
	return err
}

// checkApproved compares a tool with the approved one right before a call and asks the user if they
// differ.
func (v *server) checkApproved(ctx context.Context, shown Tool) error {
	v.mu.Lock()
	now, there := v.current.tool(shown.Name)
	approved, _ := v.approved.tool(shown.Name)
	change := v.change
	v.mu.Unlock()
	name := v.conf.Name
	if there && now.Pin == shown.Pin {
		return nil
	}
	if !v.conf.SkipPinning && now.Pin != approved.Pin && change.Any() {
		if err := v.consent(ctx, change); err != nil {
			return err
		}
	}
	if !there {
		return tool.Fail(tool.CodeNotFound, "the server %s has no tool %s any more; go on without it", name, Line(shown.Name, 100))
	}
	if string(now.Parameters) == string(shown.Parameters) {
		return nil // the arguments were made for this schema
	}
	return tool.Fail(tool.CodeStale, "the tool %s of the server %s takes other arguments now, which the person has agreed to: %s; call it again with those", Line(shown.Name, 100), name, now.Parameters)
}

func (v *server) consent(ctx context.Context, c Change) error {
	ask := v.pool.opts.Consent
	if ask == nil {
		return fmt.Errorf("%w: the server %s describes its tools otherwise than the person agreed to (%s), and nobody is here to ask; they look at it with: adze mcp accept %s",
			tool.ErrDenied, v.conf.Name, shortList(slices.Concat(c.Changed, c.Added, c.Removed)), v.conf.Name)
	}
	if err := ask(ctx, c); err != nil {
		return err
	}
	return v.pool.Accept(c)
}

func shortList(names []string) string {
	const most = 5
	var out []string
	for i, n := range names {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		out = append(out, Line(n, 64))
	}
	return strings.Join(out, ", ")
}

// Forget deletes everything known about a server, also on disk.
func (p *Pool) Forget(name string) {
	p.locked(name, func(v *server) {
		v.loaded, v.approved, v.current, v.change = true, nil, nil, Change{}
		if dir := p.opts.State; dir != "" {
			for _, file := range []string{v.conf.file(dir), v.conf.logFile(dir), v.conf.lastFile(dir)} {
				_ = os.Remove(file) // it may not exist
			}
			p.dropFolder(name)
		}
		p.generation.Add(1)
	})
}
